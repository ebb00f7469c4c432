import CookieModel

/// Collects the Set-Cookie lines of one response, within ``CaptureLimits/responseByteCount``.
struct SetCookieLines {
    /// The lines, in order.
    private(set) var octets: [Octets] = []
    /// How many bytes are held.
    private(set) var bufferedByteCount = 0
    /// Whether a line was left out since there was no more room.
    private(set) var isOverfull = false

    /// Whether there is no line.
    var isEmpty: Bool { octets.isEmpty }

    /// Adds one field value, without the white space at its ends (RFC 9110, section 5.5).
    mutating func append(_ value: Span<UInt8>) {
        let range = value.trimmingBlanks(0..<value.count)
        guard bufferedByteCount + range.count + (octets.count + 1) * 64 <= CaptureLimits.responseByteCount else {
            isOverfull = true
            return
        }
        octets.append(Octets(value.array(range)))
        bufferedByteCount += range.count
    }

    /// Adds the lines of a value that joins several with line feeds, as browsers' developer tools do. Empty lines
    /// between them are no lines; a value without a line feed is one line, even an empty one.
    mutating func append(joined value: Span<UInt8>) {
        guard value.firstIndex(of: ASCII.lineFeed, from: 0) != nil else { return append(value) }
        var start = 0
        while start < value.count {
            let end = value.firstIndex(of: ASCII.lineFeed, from: start) ?? value.count
            let line = value.extracting(start..<end)
            let text = line.trimmingBlanks(line.droppingCarriageReturn)
            if !text.isEmpty { append(line.extracting(text)) }
            start = end + 1
        }
    }
}
