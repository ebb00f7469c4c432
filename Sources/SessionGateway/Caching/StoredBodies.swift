import HTTPCaching
import HTTPMessages
import NIOCore
import ResponseStore
import WebPrimitives

/// A stored response, ready to be passed on.
struct OpenedAnswer: Sendable {
    let response: ForwardedResponse
    let body: OpenedBody

    /// - Returns: `nil` if its fields are none that a client may get.
    init?(_ answer: CacheExchange.Answer) {
        guard let response = try? ForwardedResponse(answer.head, length: answer.body?.length) else { return nil }
        self.response = response
        self.body = OpenedBody(stored: answer.body)
    }
}

/// What becomes of a server's response: that of ``CacheExchange/Step``, ready to be passed on.
enum CacheStep {
    case pass
    case answer(OpenedAnswer)
    case complete(OpenedAnswer)
    case again
}

extension ForwardedResponse {
    /// - Parameter length: The length of the body; `nil` without one.
    fileprivate init(_ answer: StoredAnswer, length: Int64?) throws(MessageError) {
        let reason =
            switch answer.status {
            case 200: "OK"
            case 206: "Partial Content"
            case 304: "Not Modified"
            default: ""
            }
        var octets = Array("HTTP/1.1 \(answer.status) \(reason)\r\n".utf8)
        octets.reserveCapacity(1 << 10)
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
    /// Octets that were read together with earlier ones, the next ones last.
    private var ready: [[UInt8]] = []
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
        if let octets = ready.popLast() { return .data(ByteBuffer(bytes: octets)) }
        if !isStoredEnded, let stored {
            ready = try await stored.pieces().reversed()
            if let octets = ready.popLast() { return .data(ByteBuffer(bytes: octets)) }
            isStoredEnded = true
        }
        return try await rest?.nextPiece(within: limit) ?? .end(trailers: [])
    }
}
