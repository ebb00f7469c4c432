/// Unpacks one LZ4 block in pieces. It keeps the last 64 KiB of its output, which is as far as the block can refer
/// back.
struct LZ4Block: Sendable {
    private enum Stage {
        case token
        case literalLength
        case literals
        case offset(low: UInt8?)
        case matchLength
    }

    private static let windowByteCount = 1 << 16
    /// The longest run that one byte can end with: 16 MiB, so that a few bytes cannot ask for any amount of memory.
    private static let runLimit = 1 << 24

    private var stage = Stage.token
    private var window = [UInt8](repeating: 0, count: LZ4Block.windowByteCount)
    private var literalCount = 0
    private var matchCount = 0
    private var offset = 0
    /// How many bytes came out.
    private(set) var count = 0
    /// Whether something refers back to before the beginning, or more comes out than was said: nothing more is unpacked.
    private(set) var isBroken = false
    /// How many bytes may come out.
    var limit = Int.max

    /// Takes one byte and appends the bytes that it completes.
    mutating func take(_ byte: UInt8, into output: inout [UInt8]) {
        guard !isBroken else { return }
        switch stage {
        case .token:
            literalCount = Int(byte >> 4)
            matchCount = Int(byte & 15)
            stage = literalCount == 15 ? .literalLength : literalCount == 0 ? .offset(low: nil) : .literals
        case .literalLength:
            literalCount += Int(byte)
            if byte != 255 { stage = .literals }
        case .literals:
            isBroken = count >= limit
            guard !isBroken else { return }
            put(byte, into: &output)
            literalCount -= 1
            if literalCount == 0 { stage = .offset(low: nil) }
        case .offset(low: nil):
            stage = .offset(low: byte)
        case .offset(low: let low?):
            offset = Int(low) | Int(byte) << 8
            isBroken = offset == 0 || offset > count
            if matchCount == 15 { stage = .matchLength } else { putMatch(into: &output) }
        case .matchLength:
            matchCount += Int(byte)
            if byte != 255 { putMatch(into: &output) }
        }
    }

    private mutating func putMatch(into output: inout [UInt8]) {
        stage = .token
        isBroken = isBroken || matchCount > Self.runLimit || matchCount + 4 > limit - count
        guard !isBroken else { return }
        for _ in 0..<(matchCount + 4) { put(window[(count - offset) & (Self.windowByteCount - 1)], into: &output) }
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8, into output: inout [UInt8]) {
        window[count & (Self.windowByteCount - 1)] = byte
        count += 1
        output.append(byte)
    }
}
