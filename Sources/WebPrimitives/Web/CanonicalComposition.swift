/// Normalization form C (UAX 15) of text whose characters are all valid in domains.
enum CanonicalComposition {
    /// Composes the characters of a text.
    static func compose(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        // Valid characters are composed as far as they can be alone, so text without marks stays as it is.
        guard scalars.contains(where: reorders) else { return scalars }
        return compose(inOrder(decompose(scalars)))
    }

    /// Whether the character may change places or compose with one before it.
    private static func reorders(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300, let properties = UnicodeTable.properties(of: scalar) else { return false }
        return properties.combiningClass != 0 || properties.composes
    }

    // MARK: Decomposition

    private typealias Classed = (scalar: Unicode.Scalar, combiningClass: UInt32)

    private static func decompose(_ scalars: [Unicode.Scalar]) -> [Classed] {
        var decomposed: [Classed] = []
        for scalar in scalars { appendDecomposition(of: scalar, to: &decomposed) }
        return decomposed
    }

    private static func appendDecomposition(of scalar: Unicode.Scalar, to output: inout [Classed]) {
        if let syllable = Hangul.syllable(scalar) {
            output += syllable.map { ($0, 0) }
            return
        }
        let row = UnicodeTable.decompositions.lastRow(upTo: scalar.value)
        if row >= 0, UnicodeTable.decompositions[row, 0] == scalar.value {
            appendDecomposition(of: UnicodeTable.decompositions.scalar(row, 1), to: &output)
            appendDecomposition(of: UnicodeTable.decompositions.scalar(row, 2), to: &output)
        } else {
            output.append((scalar, UnicodeTable.properties(of: scalar)?.combiningClass ?? 0))
        }
    }

    /// The canonical ordering: marks in a row by their classes, those of one class as they were.
    private static func inOrder(_ scalars: [Classed]) -> [Classed] {
        var ordered = scalars
        var start = 0
        while start < ordered.count {
            var end = start
            while end < ordered.count, ordered[end].combiningClass != 0 { end += 1 }
            // The standard library's sort is stable.
            ordered[start..<end].sort { $0.combiningClass < $1.combiningClass }
            start = end + 1
        }
        return ordered
    }

    // MARK: Composition

    private static func compose(_ scalars: [Classed]) -> [Unicode.Scalar] {
        var composed: [Unicode.Scalar] = []
        var starter: Int?
        // The class of the last character after the starter; -1 right after it.
        var lastClass = -1
        for (scalar, combiningClass) in scalars {
            if let starter, lastClass < combiningClass, let composite = composite(composed[starter], scalar) {
                composed[starter] = composite
                continue
            }
            if combiningClass == 0 {
                starter = composed.count
                lastClass = -1
            } else {
                lastClass = Int(combiningClass)
            }
            composed.append(scalar)
        }
        return composed
    }

    private static func composite(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        if let syllable = Hangul.composite(first, second) { return syllable }
        let table = UnicodeTable.compositions
        var row = table.lastRow(upTo: first.value)
        while row >= 0, table[row, 0] == first.value {
            if table[row, 1] == second.value { return table.scalar(row, 2) }
            row -= 1
        }
        return nil
    }
}

/// The syllables of Hangul, which compose by arithmetic (Unicode, section 3.12).
private enum Hangul {
    private static let leading: UInt32 = 0x1100
    private static let vowel: UInt32 = 0x1161
    /// One before the first trailing consonant: a syllable without one counts as 0.
    private static let trailing: UInt32 = 0x11A7
    private static let syllables: UInt32 = 0xAC00
    private static let (leadingCount, vowelCount, trailingCount): (UInt32, UInt32, UInt32) = (19, 21, 28)

    /// The jamo of a syllable; `nil` for any other character.
    static func syllable(_ scalar: Unicode.Scalar) -> [Unicode.Scalar]? {
        let index = scalar.value &- syllables
        guard index < leadingCount * vowelCount * trailingCount else { return nil }
        let jamo = [
            leading + index / (vowelCount * trailingCount), vowel + index / trailingCount % vowelCount,
            trailing + index % trailingCount,
        ]
        return jamo.filter { $0 != trailing }.compactMap(Unicode.Scalar.init)
    }

    /// The syllable of a leading consonant and a vowel, or of such a syllable and a trailing consonant.
    static func composite(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        let (l, v) = (first.value &- leading, second.value &- vowel)
        if l < leadingCount, v < vowelCount {
            return Unicode.Scalar(syllables + (l * vowelCount + v) * trailingCount)
        }
        let (s, t) = (first.value &- syllables, second.value &- trailing)
        guard s < leadingCount * vowelCount * trailingCount, s % trailingCount == 0, t > 0, t < trailingCount
        else { return nil }
        return Unicode.Scalar(first.value + t)
    }
}
