import CookieModel
import HTTPMessages
import NIOCore
import RequestDecoration
import WebPrimitives

/// One request and its response, collected for a recording while they pass.
///
/// Bodies wait in a ``BodySpool``. A body that is too long for the spool is left out of the entry.
actor RecordedExchange {
    private let recording: TrafficRecording
    private let now: @Sendable () -> Timestamp
    private var entry: RecordedEntry
    private let start: Timestamp
    private var answered: Timestamp?
    private var isWritten = false

    /// Begins an entry.
    ///
    /// - Parameters:
    ///   - head: The request's head for the server.
    ///   - jarFields: The names of the fields that the jar has added.
    init(
        _ recording: TrafficRecording, _ request: ForwardedRequest, head: [UInt8], jarFields: [String],
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.recording = recording
        self.now = now
        start = now()
        var redaction = recording.redaction
        // It names a program, and is not a secret.
        redaction?.jarFields = Set(jarFields.map { $0.lowercased() }).subtracting(["user-agent"])
        entry = RecordedEntry(
            time: start, method: request.method, url: request.url,
            head: (try? MessageHead(head, from: .server)) ?? request.head, redaction: redaction,
            request: RecordedBody(recording.spools), response: RecordedBody(recording.spools))
    }

    /// Begins an entry of a request that is not sent to a server. It contains nothing of the jar, and no cookie of the
    /// client.
    init(_ recording: TrafficRecording, replaying request: ForwardedRequest, now: @escaping @Sendable () -> Timestamp) {
        let bare = Decoration(Retrieval())
        self.init(recording, request, head: request.octets(with: bare), jarFields: [], now: now)
    }

    /// Drops the request's body, which is sent again from its beginning.
    func restart() {
        entry.request = RecordedBody(recording.spools)
    }

    /// Adds a piece of the request's body.
    func append(toRequest piece: BodyReader.Piece) async {
        guard case .data(let octets) = piece else { return }
        entry.request.note(octets)
        await entry.request.spool.append(piece)
    }

    /// Sets the head of the response.
    ///
    /// - Parameter source: Where it comes from.
    func respond(_ response: ForwardedResponse, from source: RecordedEntry.Source = .server) {
        entry.answer = response
        entry.source = source
        answered = now()
    }

    /// Adds a piece of the response's body.
    func append(toResponse piece: BodyReader.Piece) async {
        guard case .data(let octets) = piece else { return }
        entry.response.note(octets)
        await entry.response.spool.append(piece)
    }

    /// Writes the entry, once.
    ///
    /// - Parameter error: The reason why the response is incomplete; `nil` if it is complete.
    func end(_ error: (any Error)? = nil) async {
        guard !isWritten else { return }
        isWritten = true
        entry.failure = error.map { error in
            (error as? GatewayFailure)?.kind.rawValue ?? GatewayFailure.Kind.connectionTerminated.rawValue
        }
        let end = now()
        entry.wait = (answered ?? end).microseconds - start.microseconds
        entry.receive = end.microseconds - (answered ?? end).microseconds
        var complete = entry
        await complete.prepare()
        // A detached task, because this one is cancelled when the gateway stops, and the entry would be lost.
        await Task.detached { [recording, complete] in await recording.write(complete) }.value
    }
}

/// A body for a recording.
struct RecordedBody: Sendable {
    let spool: BodySpool
    /// How many octets were counted.
    private(set) var count = 0
    private var encoding = UTF8Check()

    init(_ budget: BodySpool.Budget) {
        spool = BodySpool(budget)
    }

    /// Counts octets that go to the spool.
    mutating func note(_ octets: ByteBuffer) {
        count += octets.readableBytes
        encoding.take(octets.readableBytesView)
    }

    /// Whether it is UTF-8.
    var isText: Bool { encoding.isComplete }

    /// The whole body; `nil` if it is longer than `limit`, or if there was no room for it.
    func octets(upTo limit: Int) async -> [UInt8]? {
        guard count <= limit else { return nil }
        var octets: [UInt8] = []
        while octets.count < count {
            guard case .data(let piece)? = try? await spool.piece(at: octets.count) else { return nil }
            octets += piece.readableBytesView
        }
        return octets
    }
}

/// Checks whether octets in pieces are UTF-8 (RFC 3629).
struct UTF8Check: Sendable {
    private var isValid = true
    /// How many octets of the current character are missing, and the range of the next one.
    private var missing = 0
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether all was UTF-8, and no character is incomplete.
    var isComplete: Bool { isValid && missing == 0 }

    mutating func take(_ octets: some Sequence<UInt8>) {
        guard isValid else { return }
        for octet in octets where octet >= 0x80 || missing > 0 {
            guard missing == 0 else {
                guard next.contains(octet) else { return isValid = false }
                missing -= 1
                next = 0x80...0xBF
                continue
            }
            switch octet {
            case 0xC2...0xDF: missing = 1
            case 0xE0: (missing, next) = (2, 0xA0...0xBF)
            case 0xED: (missing, next) = (2, 0x80...0x9F)
            case 0xE1...0xEF: missing = 2
            case 0xF0: (missing, next) = (3, 0x90...0xBF)
            case 0xF1...0xF3: missing = 3
            case 0xF4: (missing, next) = (3, 0x80...0x8F)
            default: return isValid = false
            }
        }
    }
}
