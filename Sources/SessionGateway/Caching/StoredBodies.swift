import HTTPCaching
import HTTPMessages
import NIOCore
import NIOPosix
import ResponseStore
import WebPrimitives

/// A stored response, ready to be passed on.
struct OpenedAnswer: Sendable {
    let response: ForwardedResponse
    let body: OpenedBody

    /// Opens the body that an answer has.
    ///
    /// - Returns: `nil` if it is damaged.
    init?(_ answer: StoredAnswer, of stored: StoredResponse, in cache: GatewayCache) async {
        var body: StoredBody?
        if let range = answer.body {
            let open = { @Sendable (responses: ResponseCache) in responses.body(of: stored, range: range) }
            let opened = stored.hasFile ? await cache.using(open) : await cache.reading(open)
            guard let opened = opened ?? nil else { return nil }
            body = opened
        }
        guard let response = try? ForwardedResponse(answer, length: body?.length) else { return nil }
        self.response = response
        self.body = OpenedBody(stored: body)
    }
}

extension ForwardedResponse {
    /// - Parameter length: The length of the body; `nil` if there is none.
    fileprivate init(_ answer: StoredAnswer, length: Int64?) throws(MessageError) {
        let reason =
            switch answer.status {
            case 200: "OK"
            case 206: "Partial Content"
            case 304: "Not Modified"
            default: ""
            }
        var octets = Array("HTTP/1.1 \(answer.status) \(reason)\r\n".utf8)
        for field in answer.fields.lines { octets.append(field: field.name, field.value) }
        if let length, !answer.fields.has("content-length") {
            octets.append(field: "Content-Length", Octets(String(length)))
        }
        octets += [ASCII.carriageReturn, ASCII.lineFeed]
        try self.init(MessageHead(octets, from: .server), toHead: length == nil)
    }
}

/// The body of a stored response, and what the server sends after it.
struct OpenedBody: ResponseBody {
    private let stored: StoredBody?
    private var rest: ByteStream?
    private var isStoredEnded = false

    init(stored: StoredBody?) {
        self.stored = stored
        isStoredEnded = stored == nil
    }

    /// The same body, followed by that of the response on a connection.
    func followed(by rest: ByteStream) -> OpenedBody {
        var body = self
        body.rest = rest
        return body
    }

    var isHere: Bool { get async { if isStoredEnded, let rest { await rest.isHere } else { true } } }

    mutating func nextPiece(within limit: TimeAmount?) async throws -> BodyReader.Piece {
        if !isStoredEnded, let stored {
            let octets =
                stored.isInMemory
                ? try stored.next()
                // A detached task, because this one is cancelled when the gateway stops, and finishes its requests.
                : try await Task.detached {
                    try await NIOThreadPool.singleton.runIfActive { try OpenedBody.batch(of: stored) }
                }.value
            if let octets { return .data(ByteBuffer(bytes: octets)) }
            isStoredEnded = true
        }
        return try await rest?.nextPiece(within: limit) ?? .end(trailers: [])
    }

    /// The next octets, so many that a change of threads is worth it.
    private static func batch(of stored: StoredBody) throws -> [UInt8]? {
        guard var octets = try stored.next() else { return nil }
        while octets.count < batchLength, let more = try stored.next() { octets += more }
        return octets
    }

    private static let batchLength = 1 << 18
}

/// Stores a body while it is passed on.
actor BodyStoring {
    private let writer: ResponseWriter
    private let cache: GatewayCache
    private var octets: [UInt8] = []
    private(set) var isEnded = false

    /// How many octets are collected before they are sealed.
    private static let batchLength = 1 << 16

    /// - Returns: `nil` if too many others are being stored.
    init?(_ writer: ResponseWriter, in cache: GatewayCache) {
        guard cache.beginStoring() else { return nil }
        self.writer = writer
        self.cache = cache
    }

    deinit {
        cache.endStoring()
    }

    func append(_ piece: ByteBuffer) async {
        guard !isEnded else { return }
        octets += piece.readableBytesView
        guard octets.count >= BodyStoring.batchLength else { return }
        let batch = octets
        octets = []
        if await cache.using({ [writer] _ in writer.append(batch) }) != true { isEnded = true }
    }

    /// - Parameters:
    ///   - isComplete: Whether the message was complete.
    ///   - isAbandoned: Whether nothing is stored.
    func finish(isComplete: Bool, unless isAbandoned: Bool = false, now: Timestamp) async {
        guard !isEnded else { return }
        isEnded = true
        let rest = octets
        _ = await cache.using { [writer] _ in
            if isAbandoned { return writer.abandon() }
            if writer.append(rest) { writer.finish(isComplete: isComplete, now: now) }
        }
    }
}
