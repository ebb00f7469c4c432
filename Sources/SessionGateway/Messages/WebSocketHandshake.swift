import Crypto
import HTTPMessages
import WebPrimitives

/// The handshake that opens a WebSocket over HTTP/1.1 (RFC 6455, section 4), if one side of the gateway uses HTTP/2.
struct WebSocketHandshake {
    /// A random value in Base64. The response proves that the server has read it.
    private let key: [UInt8]

    /// - Parameter nonce: 16 random octets.
    init(nonce: [UInt8]) {
        key = Base64.encode(nonce)
    }

    /// Creates a handshake with a new nonce, for a client that uses HTTP/2.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(nonce: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The handshake in the head of a request; `nil` if it does not open a WebSocket.
    init?(of head: MessageHead) {
        let keys = head.values("sec-websocket-key")
        guard keys.count == 1, head.members("upgrade") == ["websocket"], head.members("connection").contains("upgrade"),
            head.octets[head.startLine].starts(with: "GET ".utf8)
        else { return nil }
        key = Array(keys[0])
    }

    /// The lines of the request.
    var lines: [UInt8] {
        var lines: [UInt8] = []
        lines.append(field: "Connection", "Upgrade")
        lines.append(field: "Upgrade", "websocket")
        lines.append(field: "Sec-WebSocket-Key", Octets(key))
        return lines
    }

    /// The lines of the response that accepts it.
    var acceptingLines: [UInt8] {
        var lines: [UInt8] = []
        lines.append(field: "Connection", "Upgrade")
        lines.append(field: "Upgrade", "websocket")
        lines.append(field: "Sec-WebSocket-Accept", proof)
        return lines
    }

    /// Whether a response with status 101 accepts this handshake, and not another one.
    func isAccepted(by head: MessageHead) -> Bool {
        head.members("upgrade") == ["websocket"] && head.members("connection").contains("upgrade")
            && head.values("sec-websocket-accept") == [proof]
    }

    private var proof: Octets {
        let hash = Insecure.SHA1.hash(data: key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return Octets(Base64.encode(Array(hash)))
    }
}
