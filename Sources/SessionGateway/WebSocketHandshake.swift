import Crypto
import HTTPMessages
import WebPrimitives

/// The handshake that opens a WebSocket over HTTP/1.1 (RFC 6455, section 4.1), for a client that speaks HTTP/2.
struct WebSocketHandshake {
    /// A random value in Base64, which the server proves to have read.
    private let key: [UInt8]

    /// - Parameter nonce: 16 random octets.
    init(nonce: [UInt8]) {
        key = Base64.encode(nonce)
    }

    /// Creates a handshake with a nonce of its own.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(nonce: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The lines of the request.
    var lines: [UInt8] {
        var lines: [UInt8] = []
        lines.append(field: "Connection", "Upgrade")
        lines.append(field: "Upgrade", "websocket")
        lines.append(field: "Sec-WebSocket-Key", Octets(key))
        return lines
    }

    /// Whether a response with status 101 accepts this handshake, and is not one that was stored for another.
    func isAccepted(by head: MessageHead) -> Bool {
        let proof = Insecure.SHA1.hash(data: key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return head.members("upgrade") == ["websocket"] && head.members("connection").contains("upgrade")
            && head.values("sec-websocket-accept") == [Octets(Base64.encode(Array(proof)))]
    }
}
