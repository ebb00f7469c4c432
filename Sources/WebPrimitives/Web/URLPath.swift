/// The path and query states of the URL Standard's parser, for URLs with a special scheme.
enum URLPath {
    /// Returns a path with its dot segments resolved, its backslashes replaced and its characters percent-encoded if
    /// necessary; `nil` if nothing changes.
    static func rewritten(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard !bytes.isEmpty else { return [ASCII.slash] }
        if isNormal(bytes) { return nil }
        // Where each kept segment begins in `output`, so that `..` can take one back.
        var output: [UInt8] = []
        var segmentStarts: [Int] = []
        output.reserveCapacity(bytes.count + 8)
        var start = isSlash(bytes[0]) ? 1 : 0
        while true {
            var end = start
            while end < bytes.count, !isSlash(bytes[end]) { end += 1 }
            let isLast = end == bytes.count
            let dots = dotCount(bytes, start..<end)
            if dots == 2, let previous = segmentStarts.popLast() {
                output.removeSubrange(previous...)
            }
            if dots == 0 {
                segmentStarts.append(output.count)
                output.append(ASCII.slash)
                for index in start..<end { appendEncoded(bytes[index], needsEncodingInPath, to: &output) }
            } else if isLast {
                // A path that ends in a dot segment ends in a slash.
                output.append(ASCII.slash)
            }
            if isLast { break }
            start = end + 1
        }
        return output
    }

    /// A query with its question mark, percent-encoded if necessary; `nil` if there is nothing to do.
    static func rewrittenQuery(_ bytes: Span<UInt8>) -> [UInt8]? {
        var index = 0
        while index < bytes.count, !needsEncodingInQuery(bytes[index]) { index += 1 }
        guard index < bytes.count else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for index in bytes.indices { appendEncoded(bytes[index], needsEncodingInQuery, to: &output) }
        return output
    }

    @inline(__always)
    private static func isSlash(_ byte: UInt8) -> Bool {
        byte == ASCII.slash || byte == ASCII.backslash
    }

    /// Whether there is nothing to do: most paths are sent as they are written.
    private static func isNormal(_ bytes: Span<UInt8>) -> Bool {
        guard bytes[0] == ASCII.slash,
            !bytes.contains(
                where: { $0 == ASCII.backslash || needsEncodingInPath($0) },
                markedBy: { word in
                    word.bytes(below: 0x23) | word.bytes(in: 0x3C...0x3E) | word.bytes(in: 0x5C...0x5E)
                        | word.bytes(equalTo: 0x60) | word.bytes(atLeast: 0x7B)
                })
        else { return false }
        // Only a segment that begins with a dot, plain or encoded, can be a dot segment.
        var slash = 0
        while slash + 1 < bytes.count {
            if bytes[slash + 1] == ASCII.dot || bytes[slash + 1] == ASCII.percent { return false }
            slash = bytes.position(of: ASCII.slash, in: (slash + 1)..<bytes.count)
        }
        return true
    }

    /// 1 for `.`, 2 for `..`, each dot plain or `%2e`; 0 for any other segment.
    private static func dotCount(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        guard !range.isEmpty, range.count <= 6 else { return 0 }
        var dots = 0
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == ASCII.dot {
                index += 1
            } else if index + 2 < range.upperBound, bytes[index] == ASCII.percent, bytes[index + 1] == 0x32,
                bytes[index + 2] | 0x20 == 0x65
            {
                index += 3
            } else {
                return 0
            }
            dots += 1
        }
        return dots <= 2 ? dots : 0
    }

    /// The URL Standard's path percent-encode set.
    @inline(__always)
    private static func needsEncodingInPath(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x5E, 0x60, 0x7B, 0x7D, ASCII.questionMark: true
        default: isInQuerySet(byte)
        }
    }

    /// The URL Standard's special-query percent-encode set.
    @inline(__always)
    private static func needsEncodingInQuery(_ byte: UInt8) -> Bool {
        byte == 0x27 || isInQuerySet(byte)
    }

    @inline(__always)
    private static func isInQuerySet(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x20, 0x22, ASCII.numberSign, 0x3C, 0x3E, 0x7F...: true
        default: false
        }
    }

    private static func appendEncoded(_ byte: UInt8, _ needsEncoding: (UInt8) -> Bool, to output: inout [UInt8]) {
        guard needsEncoding(byte) else {
            output.append(byte)
            return
        }
        PercentEncoding.append(byte, to: &output)
    }
}
