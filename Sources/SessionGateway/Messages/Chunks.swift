import NIOCore

extension ByteBuffer {
    /// The octets as one chunk (RFC 9112, section 7.1).
    var asChunk: ByteBuffer {
        guard readableBytes > 0 else { return self }
        let size = String(readableBytes, radix: 16)
        var chunk = ByteBuffer()
        chunk.reserveCapacity(readableBytes + size.utf8.count + 4)
        chunk.writeString(size)
        chunk.writeStaticString("\r\n")
        chunk.writeImmutableBuffer(self)
        chunk.writeStaticString("\r\n")
        return chunk
    }

    /// The chunk that ends a body, with its trailer section.
    static func lastChunk(_ trailers: [UInt8]) -> ByteBuffer {
        var chunk = ByteBuffer(string: "0\r\n")
        chunk.writeBytes(trailers)
        chunk.writeStaticString("\r\n")
        return chunk
    }
}
