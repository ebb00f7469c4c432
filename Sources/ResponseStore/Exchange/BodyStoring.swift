import HTTPCaching
import WebPrimitives

/// Stores a body while it is passed on.
actor BodyStoring {
    private let writer: ResponseWriter
    private let cache: PrivateCache
    private var octets: [UInt8] = []
    private(set) var isEnded = false

    /// How many octets are collected before they are sealed.
    private static let batchLength = 1 << 16

    /// - Returns: `nil` if too many others are being stored.
    init?(_ writer: ResponseWriter, in cache: PrivateCache) {
        guard cache.beginStoring() else { return nil }
        self.writer = writer
        self.cache = cache
    }

    deinit {
        cache.endStoring()
    }

    func append(_ piece: [UInt8]) async {
        guard !isEnded else { return }
        octets += piece
        guard octets.count >= BodyStoring.batchLength else { return }
        let batch = octets
        octets = []
        if await !cache.using({ [writer] _ in writer.append(batch) }) { isEnded = true }
    }

    /// - Parameters:
    ///   - isComplete: Whether the message was complete.
    ///   - isAbandoned: Whether nothing is stored.
    func finish(isComplete: Bool, unless isAbandoned: Bool = false, now: Timestamp) async {
        guard !isEnded else { return }
        isEnded = true
        let rest = octets
        await cache.using { [writer] _ in
            if isAbandoned { return writer.abandon() }
            if writer.append(rest) { writer.finish(isComplete: isComplete, now: now) }
        }
    }
}
