/// Decompression of Deflate (RFC 1951) and of what surrounds it: gzip (RFC 1952) and zlib (RFC 1950).
///
/// The memory that it takes is bounded by the limit, however far the input expands.
struct Inflate {
    /// Why octets cannot be decompressed.
    enum Failure: Error {
        /// They are not what they should be, or their end is missing.
        case damaged
        /// They expand to more than the limit.
        case tooLong
    }

    private let input: [UInt8]
    private let limit: Int
    private var position: Int
    private var bits: UInt64 = 0
    private var bitCount = 0
    private var output: [UInt8] = []

    private init(_ input: [UInt8], from position: Int, limit: Int) {
        self.input = input
        self.position = position
        self.limit = limit
    }

    /// Whether octets begin as a gzip file does.
    static func isGzip(_ octets: some Collection<UInt8>) -> Bool {
        octets.starts(with: [0x1F, 0x8B, 0x08])
    }

    /// Decompresses gzip, all members of it. The checksums are verified.
    static func gzip(_ input: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var output: [UInt8] = []
        var position = 0
        repeat {
            position = try endOfHeader(input, from: position)
            let (member, end) = try raw(input, from: position, limit: limit - output.count)
            guard end + 8 <= input.count, CRC32.of(member) == little(input[end..<(end + 4)]),
                UInt32(truncatingIfNeeded: member.count) == little(input[(end + 4)..<(end + 8)])
            else { throw .damaged }
            output += member
            position = end + 8
            // Some programs fill the last block of a file.
            while position < input.count, input[position] == 0 { position += 1 }
        } while position < input.count
        return output
    }

    /// Decompresses zlib, whose checksum is not verified.
    static func zlib(_ input: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        guard input.count > 2, input[0] & 15 == 8, (UInt16(input[0]) << 8 | UInt16(input[1])) % 31 == 0,
            input[1] & 0x20 == 0
        else { throw .damaged }
        return try raw(input, from: 2, limit: limit).output
    }

    /// Decompresses Deflate without anything around it.
    ///
    /// - Returns: The octets, and where the compressed ones end.
    static func raw(
        _ input: [UInt8], from position: Int, limit: Int
    ) throws(Failure) -> (output: [UInt8], end: Int) {
        var inflate = Inflate(input, from: position, limit: limit)
        while try !inflate.block() {}
        return (inflate.output, inflate.position - inflate.bitCount / 8)
    }

    /// Where the header of a member of a gzip file ends (RFC 1952, section 2.3).
    private static func endOfHeader(_ input: [UInt8], from start: Int) throws(Failure) -> Int {
        guard start + 10 <= input.count, isGzip(input[start...]) else { throw .damaged }
        let flags = input[start + 3]
        var position = start + 10
        if flags & 4 != 0 {
            guard position + 2 <= input.count else { throw .damaged }
            position += 2 + Int(input[position]) + Int(input[position + 1]) << 8
        }
        for flag: UInt8 in [8, 16] where flags & flag != 0 {
            guard position <= input.count, let zero = input[position...].firstIndex(of: 0) else { throw .damaged }
            position = zero + 1
        }
        if flags & 2 != 0 { position += 2 }
        guard position <= input.count else { throw .damaged }
        return position
    }

    private static func little(_ octets: ArraySlice<UInt8>) -> UInt32 {
        octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: - Bits

    /// Sees to it that so many bits are there, at most 32; after the end of the input they are zero.
    private mutating func fill(_ count: Int) throws(Failure) {
        while bitCount < count {
            // A code may be shorter than the bits that are looked at, but not by more than those.
            guard position < input.count + 8 else { throw .damaged }
            if position < input.count { bits |= UInt64(input[position]) << UInt64(bitCount) }
            position += 1
            bitCount += 8
        }
    }

    private mutating func take(_ count: Int) throws(Failure) -> Int {
        try fill(count)
        let value = Int(bits & (1 << UInt64(count) - 1))
        bits >>= UInt64(count)
        bitCount -= count
        guard position - bitCount / 8 <= input.count else { throw .damaged }
        return value
    }

    private mutating func symbol(_ code: HuffmanCode) throws(Failure) -> Int {
        try fill(HuffmanCode.longest)
        guard let (symbol, length) = code.symbol(bits) else { throw .damaged }
        _ = try take(length)
        return symbol
    }

    // MARK: - Blocks

    /// Decompresses a block (section 3.2.3).
    ///
    /// - Returns: Whether it was the last one.
    private mutating func block() throws(Failure) -> Bool {
        let isLast = try take(1) == 1
        switch try take(2) {
        case 0: try storedBlock()
        case 1: try compressedBlock(HuffmanCode.fixedLiterals, HuffmanCode.fixedDistances)
        case 2:
            let (literals, distances) = try codes()
            try compressedBlock(literals, distances)
        default: throw .damaged
        }
        return isLast
    }

    private mutating func storedBlock() throws(Failure) {
        _ = try take(bitCount % 8)
        let length = try take(16)
        guard try take(16) == length ^ 0xFFFF else { throw .damaged }
        guard output.count + length <= limit else { throw .tooLong }
        for _ in 0..<length { output.append(UInt8(try take(8))) }
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

    private mutating func compressedBlock(_ literals: HuffmanCode, _ distances: HuffmanCode) throws(Failure) {
        while true {
            let symbol = try symbol(literals)
            if symbol < 256 {
                guard output.count < limit else { throw .tooLong }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol > 256 else { return }
            guard symbol - 257 < Inflate.lengthBases.count else { throw .damaged }
            let length = Inflate.lengthBases[symbol - 257] + (try take(Inflate.lengthBits[symbol - 257]))
            let code = try self.symbol(distances)
            guard code < Inflate.distanceBases.count else { throw .damaged }
            let distance = Inflate.distanceBases[code] + (try take(max(0, code / 2 - 1)))
            guard distance <= output.count else { throw .damaged }
            guard output.count + length <= limit else { throw .tooLong }
            let start = output.count - distance
            for index in start..<(start + length) { output.append(output[index]) }
        }
    }

    private static let orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// Reads the codes of a block (section 3.2.7).
    private mutating func codes() throws(Failure) -> (literals: HuffmanCode, distances: HuffmanCode) {
        let literalCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let lengthCount = try take(4) + 4
        var lengths = [Int](repeating: 0, count: 19)
        for place in Inflate.orderOfLengths.prefix(lengthCount) { lengths[place] = try take(3) }
        let code = HuffmanCode(lengths)
        guard code.isValid else { throw .damaged }
        lengths = []
        while lengths.count < literalCount + distanceCount {
            switch try symbol(code) {
            case 16:
                guard let last = lengths.last else { throw .damaged }
                lengths += [Int](repeating: last, count: try take(2) + 3)
            case 17: lengths += [Int](repeating: 0, count: try take(3) + 3)
            case 18: lengths += [Int](repeating: 0, count: try take(7) + 11)
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

/// A code of at most 15 bits (section 3.2.2). Short codes are in a table; the others are found bit by bit, so that a code
/// takes little time to make.
private struct HuffmanCode {
    static let longest = 15
    private static let longestInTable = 9
    static let fixedLiterals = HuffmanCode(
        [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
            + [Int](repeating: 8, count: 8))
    static let fixedDistances = HuffmanCode([Int](repeating: 5, count: 30))

    /// For all bits that may come next, the symbol and the length of its code; 0 if it is longer, or there is none.
    private var table = [UInt16](repeating: 0, count: 1 << longestInTable)
    /// How many codes there are of each length.
    private var counts = [Int](repeating: 0, count: longest + 1)
    /// The symbols in the order of their codes.
    private var symbols: [UInt16] = []
    /// Whether there are more codes than bits.
    private(set) var isValid = true

    /// - Parameter lengths: The length of each symbol's code; 0 for none.
    init(_ lengths: [Int]) {
        for length in lengths where length > 0 { counts[length] += 1 }
        var codes = [Int](repeating: 0, count: HuffmanCode.longest + 2)
        var places = codes
        for length in 1...HuffmanCode.longest {
            isValid = isValid && codes[length] + counts[length] <= 1 << length
            codes[length + 1] = (codes[length] + counts[length]) << 1
            places[length + 1] = places[length] + counts[length]
        }
        guard isValid else { return }
        symbols = [UInt16](repeating: 0, count: places[HuffmanCode.longest + 1])
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[places[length]] = UInt16(symbol)
            places[length] += 1
            // The first bit of a code is its highest one.
            let code = (0..<length).reduce(0) { $0 << 1 | codes[length] >> $1 & 1 }
            codes[length] += 1
            guard length <= HuffmanCode.longestInTable else { continue }
            for place in stride(from: code, to: table.count, by: 1 << length) {
                table[place] = UInt16(symbol << 4 | length)
            }
        }
    }

    /// The symbol whose code comes next in the bits, and the length of the code; `nil` if they are no code.
    func symbol(_ bits: UInt64) -> (symbol: Int, length: Int)? {
        let entry = table[Int(bits & UInt64(table.count - 1))]
        guard entry == 0 else { return (Int(entry >> 4), Int(entry & 15)) }
        var (code, first, place) = (0, 0, 0)
        for length in 1...HuffmanCode.longest {
            code |= Int(bits >> UInt64(length - 1) & 1)
            if code - first < counts[length] { return (Int(symbols[place + code - first]), length) }
            place += counts[length]
            first = (first + counts[length]) << 1
            code <<= 1
        }
        return nil
    }
}

/// The checksum of gzip and zip (RFC 1952, section 8).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { octet in
        (0..<8).reduce(UInt32(octet)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    static func of(_ octets: some Sequence<UInt8>) -> UInt32 {
        ~octets.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    }
}
