import WebPrimitives

/// A response's first line (RFC 9112, section 4): `HTTP/1.1 200 OK`, and `HTTP/2 200` of the versions that have no reason
/// phrase.
package struct StatusLine: Sendable {
    /// Whether bytes begin a status line.
    package enum Match: Sendable {
        case no
        /// As far as they go.
        case partly
        case yes
    }

    /// The status code.
    package let status: Int
    /// Whether a proxy says that a tunnel is open: `HTTP/1.1 200 Connection established`.
    package let opensTunnel: Bool

    /// Whether a proxy itself responds, so that the cookies are not those of the server that it connects to.
    package var isFromProxy: Bool { opensTunnel || status == 407 }

    /// Parses a line without its line end; `nil` if it is not a status line.
    ///
    /// - Parameter allowsBlanks: whether a run of spaces and tabs may replace the first space (section 3): only for
    ///   octets known to begin a response.
    package init?(_ line: Span<UInt8>, allowsBlanks: Bool = false) {
        let (match, digitsEnd) = StatusLine.scan(line, isLine: true, allowsBlanks: allowsBlanks)
        guard match == .yes else { return nil }
        var code = 0
        for index in (digitsEnd - 3)..<digitsEnd { code = code * 10 + Int(line[index] &- ASCII.zero) }
        status = code
        let reason = line.extracting(line.trimmingBlanks(digitsEnd..<line.count))
        opensTunnel = code / 100 == 2 && reason.equalsIgnoringCase("connection established")
    }

    /// Whether `bytes`, which may end anywhere, begin a status line.
    package static func match(_ bytes: Span<UInt8>) -> Match {
        scan(bytes, isLine: false, allowsBlanks: false).match
    }

    /// Follows `HTTP/` digit [ `.` digit ] space, a status from 100 to 999, and a space or the line's end.
    private static func scan(
        _ bytes: Span<UInt8>, isLine: Bool, allowsBlanks: Bool
    ) -> (match: Match, digitsEnd: Int) {
        let name: StaticString = "HTTP/"
        var position = 0
        while position < name.utf8CodeUnitCount {
            guard position < bytes.count else { return (.partly, 0) }
            guard bytes[position] == name.utf8Start[position] else { return (.no, 0) }
            position += 1
        }
        guard position < bytes.count else { return (.partly, 0) }
        guard ASCII.isDigit(bytes[position]) else { return (.no, 0) }
        position += 1
        guard position < bytes.count else { return (.partly, 0) }
        if bytes[position] == ASCII.dot {
            guard position + 1 < bytes.count else { return (.partly, 0) }
            guard ASCII.isDigit(bytes[position + 1]) else { return (.no, 0) }
            position += 2
        }
        guard position < bytes.count else { return (.partly, 0) }
        guard bytes[position] == ASCII.space || allowsBlanks && ASCII.isBlank(bytes[position]) else { return (.no, 0) }
        position += 1
        while allowsBlanks, position < bytes.count, ASCII.isBlank(bytes[position]) { position += 1 }
        for index in 0..<3 {
            guard position < bytes.count else { return (.partly, 0) }
            // RFC 9110, section 15: the first digit is the class of the response, and there is no class 0.
            guard ASCII.isDigit(bytes[position]), index > 0 || bytes[position] != ASCII.zero else { return (.no, 0) }
            position += 1
        }
        guard position < bytes.count else { return (isLine ? .yes : .partly, position) }
        switch bytes[position] {
        case ASCII.space, ASCII.carriageReturn, ASCII.lineFeed: return (.yes, position)
        default: return (.no, position)
        }
    }
}
