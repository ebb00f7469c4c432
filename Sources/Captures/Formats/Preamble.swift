import WebPrimitives

/// Passes over what may stand before a capture: a byte order mark and white space.
struct Preamble {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Bytes that began like a byte order mark; where the preamble is over, the capture's first ones.
    private(set) var held: [UInt8] = []
    private var isAtStart = true
    /// The place of the byte that comes next.
    private(set) var line = 1
    private(set) var column = 1

    /// The position in `piece` where the capture begins (behind ``held``); `nil` where it does not begin there.
    mutating func skip(_ piece: Span<UInt8>) -> Int? {
        var position = 0
        while isAtStart, position < piece.count {
            guard piece[position] == Self.byteOrderMark[held.count] else {
                isAtStart = false
                break
            }
            held.append(piece[position])
            position += 1
            if held.count == Self.byteOrderMark.count {
                held = []
                isAtStart = false
            }
        }
        guard held.isEmpty else { return isAtStart ? nil : position }
        while position < piece.count, ASCII.isWhiteSpace(piece[position]) {
            if piece[position] == ASCII.lineFeed {
                line += 1
                column = 1
            } else {
                column += 1
            }
            position += 1
        }
        return position < piece.count ? position : nil
    }
}
