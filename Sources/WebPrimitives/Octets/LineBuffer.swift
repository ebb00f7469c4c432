/// Cuts a stream of bytes into lines, whatever pieces it comes in.
///
/// A line within one piece is not copied. A line longer than ``byteLimit`` is not kept.
package struct LineBuffer: Sendable {
    /// The longest line that is kept, in bytes: 1 MiB.
    package static let byteLimit = 1 << 20

    /// A complete line, without its line feed.
    package enum Line: Sendable {
        /// Lies within the current piece.
        case inPiece(Range<Int>)
        /// Began in an earlier piece.
        case joined([UInt8])
        /// Was too long and is gone.
        case tooLong
    }

    /// The number of the line that was returned last; before the first one, the number before the first one's.
    package private(set) var number: Int
    private var pending: [UInt8] = []
    private var isTooLong = false

    /// Lines that are counted from `firstNumber`.
    package init(firstNumber: Int) {
        number = firstNumber - 1
    }

    /// How many bytes of an incomplete line are held.
    package var bufferedByteCount: Int { pending.capacity }

    /// The next line that `piece` completes, with `position` moved past it; `nil` if the piece is used up.
    package mutating func next(in piece: Span<UInt8>, from position: inout Int) -> Line? {
        guard position < piece.count else { return nil }
        let start = position
        guard let end = piece.firstIndex(of: ASCII.lineFeed, from: start) else {
            keep(piece.extracting(start..<piece.count))
            position = piece.count
            return nil
        }
        position = end + 1
        number += 1
        if !isTooLong, pending.isEmpty, end - start <= LineBuffer.byteLimit { return .inPiece(start..<end) }
        keep(piece.extracting(start..<end))
        return take()
    }

    /// The last line, if the input did not end with a line feed.
    package mutating func last() -> Line? {
        guard isTooLong || !pending.isEmpty else { return nil }
        number += 1
        return take()
    }

    /// Begins the next line with bytes that were looked at elsewhere.
    package mutating func begin(with bytes: some Sequence<UInt8>) {
        pending = Array(bytes)
    }

    /// Counts lines that were passed over elsewhere.
    package mutating func skip(lines count: Int) {
        number += count
    }

    private mutating func keep(_ bytes: Span<UInt8>) {
        if isTooLong || pending.count + bytes.count > LineBuffer.byteLimit {
            isTooLong = true
            pending = []
        } else {
            pending.append(bytes)
        }
    }

    private mutating func take() -> Line {
        defer {
            pending = []
            isTooLong = false
        }
        return isTooLong ? .tooLong : .joined(pending)
    }
}
