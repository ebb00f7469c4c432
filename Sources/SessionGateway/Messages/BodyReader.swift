import HTTPMessages
import NIOCore

/// Finds the end of one body in the octets that arrive.
struct BodyReader {
    /// A piece of a body, or its end.
    enum Piece: Sendable {
        case data(ByteBuffer)
        /// The end of the body, with the lines of its trailer fields and their line ends.
        case end(trailers: [UInt8])
    }

    /// The rest of the body.
    private enum Rest {
        case none
        case length(UInt64)
        case chunked(ChunkedBody)
        case untilClose
    }

    private var rest: Rest

    /// Creates the reader of a body with the given framing.
    init(_ framing: BodyFraming) {
        rest =
            switch framing {
            case .none: .none
            case .length(let count): count == 0 ? .none : .length(count)
            case .chunked: .chunked(ChunkedBody())
            case .untilClose: .untilClose
            }
    }

    /// Consumes the next piece; `nil` if more octets are needed.
    ///
    /// - Throws: `MessageError` if the chunk is malformed.
    mutating func next(in buffer: inout ByteBuffer) throws -> Piece? {
        switch rest {
        case .none: return .end(trailers: [])
        case .length(let remaining):
            guard buffer.readableBytes > 0 else { return nil }
            let count = min(remaining, UInt64(buffer.readableBytes))
            rest = count == remaining ? .none : .length(remaining - count)
            return .data(buffer.take(Int(count)))
        case .untilClose:
            guard buffer.readableBytes > 0 else { return nil }
            return .data(buffer.take(buffer.readableBytes))
        case .chunked(var chunks):
            var position = 0
            let piece = try chunks.next(in: buffer.readableBytesUInt8Span, from: &position)
            buffer.consume(position)
            rest = .chunked(chunks)
            switch piece {
            case .incomplete: return nil
            case .data(let count): return .data(buffer.take(count))
            case .end(let trailers):
                rest = .none
                return .end(trailers: trailers)
            }
        }
    }

    /// Ends the body at the end of the stream.
    ///
    /// - Throws: ``StreamError/endedEarly`` unless the end of the stream ends the body.
    mutating func end() throws -> Piece {
        guard case .untilClose = rest else { throw StreamError.endedEarly }
        rest = .none
        return .end(trailers: [])
    }
}

extension ByteBuffer {
    /// Consumes the first `count` octets, which must have arrived, without copying them.
    mutating func take(_ count: Int) -> ByteBuffer {
        if count == readableBytes {
            defer { self = ByteBuffer() }
            return self
        }
        return readSlice(length: count) ?? ByteBuffer()
    }

    /// Drops the first `count` octets, which must have arrived.
    mutating func consume(_ count: Int) {
        moveReaderIndex(forwardBy: count)
        if readableBytes == 0 { clear() }
    }
}
