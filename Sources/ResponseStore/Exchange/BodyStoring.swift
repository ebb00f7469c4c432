import HTTPCaching
import WebPrimitives

/// Stores a body while it is passed on.
actor BodyStoring {
    private let writer: ResponseWriter
    private let cache: PrivateCache
    /// The length that the response's head gives; `nil` if it gives none.
    private let length: Int64?
    private var received: Int64 = 0
    private var octets: [UInt8] = []
    private(set) var isEnded = false
    /// Whether nothing was known at the beginning that would keep the response from being stored.
    nonisolated let isExpected: Bool

    /// How many octets are collected before they are sealed.
    private static let batchLength = 1 << 16

    /// - Returns: `nil` if too many others are being stored.
    init?(_ writer: ResponseWriter, length: Int64?, in cache: PrivateCache) {
        guard cache.beginStoring() else { return nil }
        self.length = length
        self.writer = writer
        isExpected = writer.isExpected
        self.cache = cache
    }

    deinit {
        cache.endStoring()
    }

    /// Stores octets. If they complete the body, the response is stored when this returns.
    func append(_ piece: [UInt8], now: Timestamp) async {
        guard !isEnded else { return }
        octets += piece
        received += Int64(piece.count)
        if received == length { return await finish(isComplete: true, now: now) }
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
