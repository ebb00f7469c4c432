/// A table of Unicode's data for domain names, in printable ASCII.
///
/// Text, because a string literal compiles in no time, takes no work at start and stays in read-only memory. An octet
/// carries six bits as `"0" + digit`, most significant digit first, and four octets are a word. The rows are in the
/// order of their first words.
///
/// | table | words of a row |
/// | --- | --- |
/// | `characters` | the first scalar of a range; a ``Kind`` above 21 bits that depend on it |
/// | `sequences` | a scalar of a mapping to several |
/// | `decompositions` | a character; the two that it decomposes to |
/// | `compositions` | the same, with the character last |
///
/// The tables of pairs have only valid characters: mappings replace all others, and no invalid one is left to compose.
struct UnicodeTable {
    /// What UTS 46 makes of a range of characters, without its transitional mappings, and the meaning of 21 bits.
    enum Kind: UInt32 {
        /// Valid: the bits are ``CharacterProperties``.
        case valid
        /// Mapped to nothing.
        case ignored
        /// Allowed in no domain.
        case disallowed
        /// Each mapped to one: the bits are the scalar for the first of the range.
        case shifted
        /// All mapped to the same scalars: where they begin in `sequences`, below their number in five bits.
        case sequence
        /// Capitals, each in front of its small letter.
        case alternating
    }

    static let characters = UnicodeTable(text: BundledUnicodeTable.characters, columns: 2)
    static let sequences = UnicodeTable(text: BundledUnicodeTable.sequences, columns: 1)
    static let decompositions = UnicodeTable(text: BundledUnicodeTable.decompositions, columns: 3)
    static let compositions = UnicodeTable(text: BundledUnicodeTable.compositions, columns: 3)

    private let text: StaticString
    private let columns: Int

    /// A word of a row.
    subscript(row: Int, column: Int) -> UInt32 {
        let octets = RawSpan(_unsafeStart: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        let offset = 4 * (row * columns + column)
        let digits = UInt32(bigEndian: octets.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let bits = digits &- 0x3030_3030
        return bits & 0x3F | (bits >> 2) & 0xFC0 | (bits >> 4) & 0x3F000 | (bits >> 6) & 0xFC0000
    }

    /// A scalar of a row.
    func scalar(_ row: Int, _ column: Int) -> Unicode.Scalar {
        Unicode.Scalar(self[row, column]) ?? "\u{FFFD}"
    }

    /// The last row that begins with `key` or less; -1 if there is none.
    func lastRow(upTo key: UInt32) -> Int {
        var rows = 0..<text.utf8CodeUnitCount / (4 * columns)
        while !rows.isEmpty {
            let middle = rows.lowerBound + rows.count / 2
            rows = self[middle, 0] <= key ? middle + 1..<rows.upperBound : rows.lowerBound..<middle
        }
        return rows.lowerBound - 1
    }

    /// The kind of a character, its bits, and its distance from the first of its range.
    private static func row(of scalar: Unicode.Scalar) -> (kind: Kind, bits: UInt32, distance: UInt32) {
        let row = characters.lastRow(upTo: scalar.value)
        let word = characters[row, 1]
        return (Kind(rawValue: word >> 21) ?? .disallowed, word & 0x1F_FFFF, scalar.value - characters[row, 0])
    }

    /// Appends the mapping of `scalar` in UTS 46 (section 5). Returns `false` if the character is disallowed.
    static func appendMapping(of scalar: Unicode.Scalar, to output: inout [Unicode.Scalar]) -> Bool {
        let (kind, bits, distance) = row(of: scalar)
        switch kind {
        case .valid:
            output.append(scalar)
        case .ignored:
            break
        case .disallowed:
            return false
        case .shifted:
            output.append(Unicode.Scalar(bits + distance) ?? scalar)
        case .sequence:
            let start = Int(bits & 0xFFFF)
            for row in start..<start + Int(bits >> 16) { output.append(sequences.scalar(row, 0)) }
        case .alternating:
            output.append(Unicode.Scalar(scalar.value + (1 - distance & 1)) ?? scalar)
        }
        return true
    }

    /// The properties of a character; `nil` if it is not valid in a domain.
    static func properties(of scalar: Unicode.Scalar) -> CharacterProperties? {
        let (kind, bits, distance) = row(of: scalar)
        return switch kind {
        case .valid: CharacterProperties(rawValue: bits)
        case .alternating: distance & 1 == 1 ? CharacterProperties(rawValue: 0) : nil
        default: nil
        }
    }
}

/// What the validity of a label and its normalization depend on.
struct CharacterProperties {
    /// Classes of the Bidi rule.
    struct BidiClasses: OptionSet {
        let rawValue: UInt16

        static let l = BidiClasses(rawValue: 1 << 0)
        static let r = BidiClasses(rawValue: 1 << 1)
        static let al = BidiClasses(rawValue: 1 << 2)
        static let en = BidiClasses(rawValue: 1 << 3)
        static let an = BidiClasses(rawValue: 1 << 4)
        static let es = BidiClasses(rawValue: 1 << 5)
        static let cs = BidiClasses(rawValue: 1 << 6)
        static let et = BidiClasses(rawValue: 1 << 7)
        static let on = BidiClasses(rawValue: 1 << 8)
        static let bn = BidiClasses(rawValue: 1 << 9)
        static let nsm = BidiClasses(rawValue: 1 << 10)
    }

    /// How a letter joins its neighbors in cursive scripts.
    enum JoiningType: UInt32 {
        case none
        case left
        case dual
        case right
        case transparent
    }

    let rawValue: UInt32

    /// The canonical combining class.
    var combiningClass: UInt32 { rawValue & 0xFF }
    /// The one class that the character has; none of these for white space and separators.
    var bidi: BidiClasses { BidiClasses(rawValue: 1 << UInt16(truncatingIfNeeded: (rawValue >> 8) & 0xF)) }
    var joining: JoiningType { JoiningType(rawValue: (rawValue >> 12) & 7) ?? .none }
    /// Whether the general category is Mark.
    var isMark: Bool { rawValue & 1 << 15 != 0 }
    /// Whether the character composes with one before it.
    var composes: Bool { rawValue & 1 << 16 != 0 }
}
