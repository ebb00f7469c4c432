import WebPrimitives

/// File names with a hash of the content, as bundlers write them. Such a file never changes, so it is kept.
///
/// A name that is taken for a hashed one by mistake shows an old file for good. One that is overlooked costs a request
/// after the file was used, since it is still that of a static resource. So the definition leaves out what could be a
/// word, a version, a date or an identifier:
///
/// | form | example | tools |
/// | --- | --- | --- |
/// | 8 or 10 hexadecimal digits after a separator, digits and letters taking turns | `main.8e0d62a0.chunk.js` | webpack, Parcel, Rollup 3, Propshaft |
/// | 12, 16, 20, 32, 40 or 64 hexadecimal digits beside a separator, some letters and some not | `base.27e20196a850.css` | Django, Next, Rails, Angular, Gatsby |
/// | 8 capital letters and digits of Base32 after a hyphen, the letters not a word with a number | `chunk-5YB3HRJC.js` | esbuild |
/// | 8 characters of Base64 for URLs after a hyphen or dot, small and capital letters and digits mixed | `index-DiwrgT4a.js` | Vite, Rollup |
///
/// The file must be a static resource by its extension. A UUID is an identifier, not a hash, and so is a name of
/// hexadecimal digits only.
enum HashedFileName {
    /// Whether the last segment of a path has a hash.
    static func isHashed(_ path: Octets) -> Bool {
        let name = StaticResource.fileName(path)
        guard name.count <= 255, let stem = StaticResource.stem(name), !containsUUID(stem) else { return false }
        let words = words(stem)
        return endsWithBase64Hash(stem) || words.count > 1 && words.contains { isHash($0) }
    }

    /// A part of a name between separators.
    private struct Word {
        let text: Octets
        /// The separator before it; `nil` at the beginning of the name.
        let separator: UInt8?
    }

    private static func words(_ stem: Octets) -> [Word] {
        var words: [Word] = []
        var start = 0
        for position in 0...stem.count {
            guard position == stem.count || isSeparator(stem[position]) else { continue }
            let separator = start > 0 ? stem[start - 1] : nil
            words.append(Word(text: stem[start..<position], separator: separator))
            start = position + 1
        }
        return words
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == ASCII.hyphen || byte == ASCII.dot || byte == ASCII.underscore || byte == UInt8(ascii: "~")
    }

    private static func isHash(_ word: Word) -> Bool {
        let count = word.text.count
        let kinds = word.text.map(Kind.init)
        let turns = zip(kinds, kinds.dropFirst()).filter { $0 != $1 }.count
        if word.text.allSatisfy(isHexadecimal) {
            // `decade80` and `2024beef` take turns once. Long ones need only have both.
            if count == 8 || count == 10 { return word.separator != nil && turns >= 2 }
            if count == 12 { return word.separator != nil && turns >= 1 }
            return lengths.contains(count) && turns >= 1 && !isUUID(word.text)
        }
        guard count == 8, word.separator == ASCII.hyphen, word.text.allSatisfy(isBase32) else { return false }
        // `WINDOWS7` takes turns once.
        return turns >= 2
    }

    /// The lengths of 64, 80, 128, 160 and 256 bits. An identifier of MongoDB has 24 digits.
    private static let lengths: Set<Int> = [16, 20, 32, 40, 64]

    /// Whether 32 hexadecimal digits have the version and variant of a UUID. One hash in 20 has them, too.
    private static func isUUID(_ digits: Octets) -> Bool {
        digits.count == 32 && [0x31, 0x34, 0x37].contains(digits[12]) && [0x38, 0x39, 0x61, 0x62].contains(digits[16])
    }

    /// Whether a name ends with 8 characters of Base64 for URLs, which may be separators themselves.
    private static func endsWithBase64Hash(_ stem: Octets) -> Bool {
        guard stem.count > 9 else { return false }
        let separator = stem[stem.count - 9]
        guard separator == ASCII.hyphen || separator == ASCII.dot else { return false }
        let hash = stem[(stem.count - 8)..<stem.count]
        let kinds = hash.map(Kind.init)
        guard !kinds.contains(.other), [Kind.digit, .small, .capital].allSatisfy(kinds.contains) else { return false }
        // `Vector3D` takes turns three times.
        return zip(kinds, kinds.dropFirst()).filter { $0 != $1 }.count >= 4
    }

    /// Whether a name has a UUID in it: hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    private static func containsUUID(_ stem: Octets) -> Bool {
        let words = words(stem)
        guard words.count >= 5 else { return false }
        return (0...(words.count - 5)).contains { start in
            zip(words[start..<(start + 5)], [8, 4, 4, 4, 12]).allSatisfy { word, count in
                word.text.count == count && word.text.allSatisfy { ASCII.hexadecimalValue($0) != nil }
            }
        }
    }

    /// Hashes are written with small letters.
    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        ASCII.hexadecimalValue(byte) != nil && !(0x41...0x46).contains(byte)
    }

    private static func isBase32(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 || (0x32...0x37).contains(byte) }

    private enum Kind: Hashable {
        case digit
        case small
        case capital
        case separator
        case other

        init(_ byte: UInt8) {
            if ASCII.isDigit(byte) {
                self = .digit
            } else if ASCII.isLetter(byte) {
                self = ASCII.lowercased(byte) == byte ? .small : .capital
            } else {
                self = byte == ASCII.hyphen || byte == ASCII.underscore ? .separator : .other
            }
        }
    }
}
