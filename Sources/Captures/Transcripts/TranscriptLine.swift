import WebPrimitives

/// What curl writes in front of a line's own text: the time with `--trace-time`, the numbers of transfer and connection
/// with `--trace-ids`.
enum TranscriptLine {
    /// Where the line begins behind these.
    static func start(of line: Span<UInt8>) -> Int {
        var position = 0
        if isTime(line) {
            position = line.firstIndex(of: ASCII.space, from: 0).map { $0 + 1 } ?? 0
        }
        guard position < line.count, line[position] == ASCII.leftBracket,
            let end = line.firstIndex(of: ASCII.rightBracket, from: position), end - position < 32,
            end + 1 < line.count, line[end + 1] == ASCII.space
        else { return position }
        for index in (position + 1)..<end {
            guard ASCII.isDigit(line[index]) || line[index] == ASCII.hyphen || line[index] == UInt8(ascii: "x") else {
                return position
            }
        }
        return end + 2
    }

    /// Whether it begins with `hh:mm:ss.ffffff`.
    private static func isTime(_ line: Span<UInt8>) -> Bool {
        guard line.count >= 9, line[2] == ASCII.colon, line[5] == ASCII.colon else { return false }
        for index in [0, 1, 3, 4, 6, 7] where !ASCII.isDigit(line[index]) { return false }
        return line[8] == ASCII.dot || line[8] == ASCII.space
    }
}
