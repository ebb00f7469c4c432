/// Text as JavaScript source.
enum JavaScript {
    /// A string literal for any text, in ASCII, that is safe within a `<script>` element and an HTML attribute too.
    static func stringLiteral(_ text: String) -> String {
        var literal = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x26, 0x27, 0x3C, 0x3E, 0x5C, 0x60, ..<0x20, 0x7F...:
                let digits = String(unit, radix: 16, uppercase: true)
                literal += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default:
                literal.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: unit)))
            }
        }
        return literal + "\""
    }
}
