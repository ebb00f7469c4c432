import WebPrimitives

/// Reads a body in chunks (RFC 9112, section 7.1), whatever pieces it comes in.
///
/// Chunk extensions are checked and dropped, as section 7.1.1 wants of a recipient that knows none.
package struct ChunkedBody: Sendable {
    /// The meaning of the next octets.
    package enum Piece: Sendable {
        /// Data of the body: the first octets of the given bytes.
        case data(count: Int)
        /// More octets are needed.
        case incomplete
        /// The body is over. The trailer section: the lines of its fields with their line ends.
        case end(trailers: [UInt8])
    }

    private enum State {
        case size
        case data(remaining: UInt64)
        /// The line end after a chunk's data.
        case dataEnd
        case trailers
        case ended
    }

    /// How many octets the line with a chunk's size has at most.
    private static let sizeLineLimit = 4096

    private var state = State.size
    private var trailers: [UInt8] = []

    package init() {}

    /// Consumes the beginning of `bytes`.
    ///
    /// - Parameter position: The start of the octets that are not consumed yet. It moves past the consumed ones. For
    ///   data it moves to the first octet, and the caller advances it by the count.
    package mutating func next(in bytes: Span<UInt8>, from position: inout Int) throws(MessageError) -> Piece {
        while true {
            switch state {
            case .size:
                guard let line = try line(in: bytes, from: &position, limit: ChunkedBody.sizeLineLimit)
                else { return .incomplete }
                let size = try ChunkedBody.size(bytes.extracting(line))
                state = size == 0 ? .trailers : .data(remaining: size)
            case .data(let remaining):
                let available = bytes.count - position
                guard available > 0 else { return .incomplete }
                let count = min(remaining, UInt64(available))
                state = count == remaining ? .dataEnd : .data(remaining: remaining - count)
                return .data(count: Int(count))
            case .dataEnd:
                guard position < bytes.count else { return .incomplete }
                guard bytes[position] == ASCII.carriageReturn else { throw .chunkInvalid }
                guard position + 1 < bytes.count else { return .incomplete }
                guard bytes[position + 1] == ASCII.lineFeed else { throw .chunkInvalid }
                position += 2
                state = .size
            case .trailers:
                guard let line = try line(in: bytes, from: &position, limit: MessageHead.byteLimit)
                else { return .incomplete }
                if line.isEmpty {
                    state = .ended
                    return .end(trailers: trailers)
                }
                try add(trailer: bytes.extracting(line))
            case .ended: return .end(trailers: trailers)
            }
        }
    }

    /// The next line without its line end, which has to be CR LF; `nil` if it has not arrived.
    private func line(
        in bytes: Span<UInt8>, from position: inout Int, limit: Int
    ) throws(MessageError) -> Range<Int>? {
        guard let lineFeed = bytes.firstIndex(of: ASCII.lineFeed, from: position) else {
            guard bytes.count - position <= limit else { throw .chunkInvalid }
            return nil
        }
        let start = position
        guard lineFeed > start, lineFeed - start <= limit, bytes[lineFeed - 1] == ASCII.carriageReturn
        else { throw .chunkInvalid }
        position = lineFeed + 1
        return start..<(lineFeed - 1)
    }

    /// chunk-size [ chunk-ext ]
    private static func size(_ line: Span<UInt8>) throws(MessageError) -> UInt64 {
        var size: UInt64 = 0
        var digits = 0
        while digits < line.count, let value = ASCII.hexadecimalValue(line[digits]) {
            // Sixteen digits, as servers write them that fill numbers with zeros. Of 64 bits, the first one is a sign in
            // other parsers.
            guard digits < 16, size < 1 << 59 else { throw .chunkInvalid }
            size = size << 4 | UInt64(value)
            digits += 1
        }
        guard digits > 0 else { throw .chunkInvalid }
        let rest = line.trimmingBlanks(digits..<line.count)
        guard rest.isEmpty || line[rest.lowerBound] == ASCII.semicolon, !line.containsControl
        else { throw .chunkInvalid }
        return size
    }

    private static func isOfHead(_ name: Span<UInt8>) -> Bool {
        name.equalsIgnoringCase("host") || name.equalsIgnoringCase("content-length")
            || name.equalsIgnoringCase("transfer-encoding") || name.equalsIgnoringCase("connection")
            || name.equalsIgnoringCase("te") || name.equalsIgnoringCase("trailer") || name.equalsIgnoringCase("cookie")
            || name.equalsIgnoringCase("set-cookie") || name.equalsIgnoringCase("authorization")
            || name.equalsIgnoringCase("location")
    }

    private mutating func add(trailer line: Span<UInt8>) throws(MessageError) {
        guard trailers.count + line.count + 2 <= MessageHead.byteLimit, !ASCII.isBlank(line[0]),
            let colon = line.firstIndex(of: ASCII.colon, from: 0), colon > 0, line.isToken(0..<colon),
            line.firstIndex(of: 0, from: 0) == nil, line.firstIndex(of: ASCII.carriageReturn, from: 0) == nil
        else { throw .trailerInvalid }
        // RFC 9110, section 6.5.1: fields that frame or route a message, or carry credentials, must not be in a
        // trailer.
        guard !ChunkedBody.isOfHead(line.extracting(0..<colon)) else { return }
        trailers.append(line)
        trailers += [ASCII.carriageReturn, ASCII.lineFeed]
    }
}
