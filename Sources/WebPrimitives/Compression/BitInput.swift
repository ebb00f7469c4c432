/// Octets that come in pieces and are read bit by bit, the lowest bit first, as compressed data is.
package struct BitInput: Sendable {
    /// Why something cannot be read.
    enum Problem: Error {
        /// More octets are needed.
        case short
        case damaged
    }

    /// A position that reading can return to.
    typealias Mark = (position: Int, bits: UInt64, bitCount: Int)

    private var octets: [UInt8]
    private var position = 0
    /// Bits that were taken out of the octets and are not read yet.
    private var bits: UInt64 = 0
    private var bitCount = 0

    package init(_ octets: [UInt8] = []) {
        self.octets = octets
    }

    /// How many octets are held, read or not.
    package var bufferedByteCount: Int { octets.capacity }

    /// Adds octets at the end and drops those that were read.
    package mutating func append(_ piece: Span<UInt8>) {
        // Not those whose bits are not read yet: `dropToOctet()` returns to them.
        let held = bitCount / 8
        octets.removeFirst(position - held)
        position = held
        octets.append(piece)
    }

    // MARK: - Octets

    /// How many whole octets come next.
    package var count: Int { octets.count - position }

    /// The octet that comes at `offset` after the next one. There must be so many.
    package subscript(offset: Int) -> UInt8 { octets[position + offset] }

    /// The number in `length` octets at `offset`, the lowest octet first. There must be so many.
    package func number(at offset: Int, _ length: Int) -> UInt64 {
        (0..<length).reversed().reduce(0) { $0 << 8 | UInt64(self[offset + $1]) }
    }

    /// Takes the next octets. There must be so many.
    package mutating func takeOctets(_ count: Int) -> ArraySlice<UInt8> {
        defer { position += count }
        return octets[position..<(position + count)]
    }

    // MARK: - Bits

    var mark: Mark { (position, bits, bitCount) }

    mutating func rewind(to mark: Mark) {
        (position, bits, bitCount) = mark
    }

    /// Goes on with the next whole octet.
    mutating func dropToOctet() {
        position -= bitCount / 8
        (bits, bitCount) = (0, 0)
    }

    private mutating func fill() {
        while bitCount <= 56, position < octets.count {
            bits |= UInt64(octets[position]) << UInt64(bitCount)
            position += 1
            bitCount += 8
        }
    }

    /// Takes so many bits, at most 32.
    mutating func take(_ count: Int) throws(Problem) -> Int {
        if bitCount < count { fill() }
        guard bitCount >= count else { throw .short }
        defer {
            bits >>= UInt64(count)
            bitCount -= count
        }
        return Int(bits & (1 << UInt64(count) - 1))
    }

    /// Takes the next symbol of a code.
    mutating func symbol(of code: HuffmanCode) throws(Problem) -> Int {
        if bitCount < HuffmanCode.longest { fill() }
        guard let (symbol, length) = code.symbol(bits) else {
            throw bitCount < HuffmanCode.longest ? .short : .damaged
        }
        guard length <= bitCount else { throw .short }
        bits >>= UInt64(length)
        bitCount -= length
        return symbol
    }
}

/// A code of at most 15 bits (section 3.2.2). Short codes are in a table; the others are found bit by bit, so that a code
/// takes little time to make.
struct HuffmanCode: Sendable {
    static let longest = 15
    private static let longestInTable = 9
    static let fixedLiterals = HuffmanCode(
        [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
            + [Int](repeating: 8, count: 8))
    static let fixedDistances = HuffmanCode([Int](repeating: 5, count: 30))

    /// For all bits that may come next, the symbol and the length of its code; 0 if the code is longer, or no symbol has one.
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
