/// Decompresses Deflate (RFC 1951) piece by piece.
///
/// Memory is bounded: the decoder holds the last 32 KiB of its output and the piece that comes next.
package struct Inflate: Sendable {
    /// Why octets cannot be decompressed.
    package enum Failure: Error {
        /// They are not what they should be, or their end is missing.
        case damaged
        /// They expand to more than the limit.
        case tooLong
    }

    private enum Stage {
        case heading
        /// Within a stored block: how many octets are left of it.
        case stored(Int)
        case compressed
        case ended
    }

    /// How far a distance reaches back.
    private static let windowLength = 1 << 15
    private static let pieceLength = 1 << 15

    private var stage = Stage.heading
    private var isLastBlock = false
    private var literals = HuffmanCode.fixedLiterals
    private var distances = HuffmanCode.fixedDistances
    private var output: [UInt8] = []
    /// How many octets of the output were returned.
    private var returnedCount = 0

    package init() {}

    /// Whether the last block has ended and its output was returned. The input stands right after it, at a whole octet.
    package var isComplete: Bool {
        if case .ended = stage { returnedCount == output.count } else { false }
    }

    /// Decompresses the next piece.
    ///
    /// - Returns: `nil` if the rest of the input is too short, or at the end.
    package mutating func next(_ input: inout BitInput) throws(Failure) -> [UInt8]? {
        if output.count > 4 * Inflate.windowLength {
            output.removeFirst(output.count - Inflate.windowLength)
            returnedCount = output.count
        }
        decoding: while output.count - returnedCount < Inflate.pieceLength {
            if case .ended = stage { break }
            let mark = input.mark
            do throws(BitInput.Problem) {
                try advance(&input)
            } catch {
                input.rewind(to: mark)
                // The octets before damaged ones count.
                guard error == .short || returnedCount < output.count else { throw .damaged }
                break decoding
            }
        }
        guard returnedCount < output.count else { return nil }
        defer { returnedCount = output.count }
        return Array(output[returnedCount...])
    }

    // MARK: - Blocks

    /// Decompresses the next part of a block (section 3.2.3). If the input is too short, nothing has changed.
    private mutating func advance(_ input: inout BitInput) throws(BitInput.Problem) {
        switch stage {
        case .heading:
            isLastBlock = try input.take(1) == 1
            switch try input.take(2) {
            case 0:
                input.dropToOctet()
                let length = try input.take(16)
                guard try input.take(16) == length ^ 0xFFFF else { throw .damaged }
                input.dropToOctet()
                stage = .stored(length)
            case 1:
                (literals, distances) = (HuffmanCode.fixedLiterals, HuffmanCode.fixedDistances)
                stage = .compressed
            case 2:
                (literals, distances) = try Inflate.codes(&input)
                stage = .compressed
            default: throw .damaged
            }
        case .stored(0): endBlock(&input)
        case .stored(let count):
            let length = min(count, input.count, Inflate.pieceLength)
            guard length > 0 else { throw .short }
            output += input.takeOctets(length)
            stage = .stored(count - length)
        case .compressed: try takeSymbol(&input)
        case .ended: break
        }
    }

    private mutating func endBlock(_ input: inout BitInput) {
        guard isLastBlock else { return stage = .heading }
        stage = .ended
        input.dropToOctet()
    }

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12289, 16385, 24577,
    ]

    private mutating func takeSymbol(_ input: inout BitInput) throws(BitInput.Problem) {
        let symbol = try input.symbol(of: literals)
        if symbol < 256 { return output.append(UInt8(symbol)) }
        guard symbol > 256 else { return endBlock(&input) }
        guard symbol - 257 < Inflate.lengthBases.count else { throw .damaged }
        let length = Inflate.lengthBases[symbol - 257] + (try input.take(Inflate.lengthBits[symbol - 257]))
        let code = try input.symbol(of: distances)
        guard code < Inflate.distanceBases.count else { throw .damaged }
        let distance = Inflate.distanceBases[code] + (try input.take(max(0, code / 2 - 1)))
        guard distance <= output.count else { throw .damaged }
        let start = output.count - distance
        for index in start..<(start + length) { output.append(output[index]) }
    }

    private static let orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// Reads the codes of a block (section 3.2.7).
    private static func codes(
        _ input: inout BitInput
    ) throws(BitInput.Problem) -> (literals: HuffmanCode, distances: HuffmanCode) {
        let literalCount = try input.take(5) + 257
        let distanceCount = try input.take(5) + 1
        let lengthCount = try input.take(4) + 4
        var lengths = [Int](repeating: 0, count: 19)
        for place in Inflate.orderOfLengths.prefix(lengthCount) { lengths[place] = try input.take(3) }
        let code = HuffmanCode(lengths)
        guard code.isValid else { throw .damaged }
        lengths = []
        while lengths.count < literalCount + distanceCount {
            switch try input.symbol(of: code) {
            case 16:
                guard let last = lengths.last else { throw .damaged }
                lengths += [Int](repeating: last, count: try input.take(2) + 3)
            case 17: lengths += [Int](repeating: 0, count: try input.take(3) + 3)
            case 18: lengths += [Int](repeating: 0, count: try input.take(7) + 11)
            case let length: lengths.append(length)
            }
        }
        guard lengths.count == literalCount + distanceCount else { throw .damaged }
        let literals = HuffmanCode(Array(lengths[..<literalCount]))
        let distances = HuffmanCode(Array(lengths[literalCount...]))
        guard literals.isValid, distances.isValid else { throw .damaged }
        return (literals, distances)
    }
}

extension Inflate {
    /// Whether octets begin as a gzip file does.
    package static func isGzip(_ octets: some Collection<UInt8>) -> Bool {
        octets.starts(with: [0x1F, 0x8B, 0x08])
    }

    /// Decompresses gzip, all members of it. The checksums are verified.
    package static func gzip(_ input: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var input = BitInput(input)
        var members = GzipMembers()
        let output = try output(limit) { () throws(Failure) in try members.next(&input) }
        guard members.areComplete, input.count == 0 else { throw .damaged }
        return output
    }

    /// Decompresses zlib (RFC 1950), whose checksum is not verified.
    package static func zlib(_ input: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        guard input.count > 2, input[0] & 15 == 8, (UInt16(input[0]) << 8 | UInt16(input[1])) % 31 == 0,
            input[1] & 0x20 == 0
        else { throw .damaged }
        return try raw(Array(input[2...]), limit: limit)
    }

    /// Decompresses Deflate without anything around it.
    package static func raw(_ input: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var input = BitInput(input)
        var inflate = Inflate()
        let output = try output(limit) { () throws(Failure) in try inflate.next(&input) }
        guard inflate.isComplete else { throw .damaged }
        return output
    }

    private static func output(_ limit: Int, _ next: () throws(Failure) -> [UInt8]?) throws(Failure) -> [UInt8] {
        var output: [UInt8] = []
        while let piece = try next() {
            guard output.count + piece.count <= limit else { throw .tooLong }
            output += piece
        }
        return output
    }
}
