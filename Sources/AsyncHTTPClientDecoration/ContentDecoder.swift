import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Decodes the content encoding of a body (RFC 9110, section 8.4).
///
/// No request asks for encodings, but some servers use them all the same. The readable part counts, even of a truncated
/// body: a new refresh token in it cannot be had again.
package enum ContentDecoder {
    /// The number of bytes that are decoded at once: they expand to a thousand times as many at most.
    private static let chunkByteCount = 1024

    /// Returns a body without its encoding, or the body itself if the encoding is unknown, or is not that of the body.
    ///
    /// - Parameters:
    ///   - encoding: the value of `Content-Encoding`.
    ///   - limit: the maximum number of bytes to return.
    package static func decoded(_ body: [UInt8], encoding: String?, limit: Int) -> [UInt8] {
        guard let name = name(of: encoding) else { return body }
        let channel = EmbeddedChannel(handler: NIOHTTPResponseDecompressor(limit: .none))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        var decoded: [UInt8] = []
        do {
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Encoding": name])
            try channel.writeInbound(HTTPClientResponsePart.head(head))
            var rest = body[...]
            while !rest.isEmpty, decoded.count < limit {
                defer { rest = rest.dropFirst(chunkByteCount) }
                defer { decoded += received(channel) }
                try channel.writeInbound(HTTPClientResponsePart.body(ByteBuffer(bytes: rest.prefix(chunkByteCount))))
            }
        } catch {
            // The bytes decoded before the error count.
        }
        return decoded.isEmpty ? body : Array(decoded.prefix(limit))
    }

    /// The encoding as the decoder knows it; `nil` for none.
    private static func name(of encoding: String?) -> String? {
        switch encoding?.lowercased().filter({ $0 != " " }) {
        // Section 8.4.1.3: a recipient should take the second for the first.
        case "gzip", "x-gzip": "gzip"
        case "deflate": "deflate"
        default: nil
        }
    }

    /// The bytes decoded so far.
    private static func received(_ channel: EmbeddedChannel) -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
            if case .body(let buffer) = part { bytes += buffer.readableBytesView }
        }
        return bytes
    }
}
