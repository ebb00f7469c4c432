import CookieModel

/// What a stylesheet names: the sheets that it imports, its images, and one file of each font.
struct StyleLinks {
    private var scanner: LinkScanner
    private var links: [PageLink] = []
    /// Whether the next reference is an imported sheet.
    private var isImport = false
    /// Whether the place is in `@font-face`, and whether its file was found.
    private var font: (isOpen: Bool, isFound: Bool)?

    /// How many octets were looked at: the work.
    var steps: Int { scanner.steps }

    init(_ css: ArraySlice<UInt8>) {
        scanner = LinkScanner(css)
    }

    /// Reads to the end.
    mutating func all() -> [PageLink] {
        // Whether a name has begun before, so that `src-url(` has no reference.
        var isInName = false
        while let octet = scanner.next {
            let wasInName = isInName
            isInName = false
            switch octet {
            case ASCII.slash:
                scanner.pass()
                if scanner.pass(UInt8(ascii: "*")) { scanner.pass(through: "*/") }
            case ASCII.quote, ASCII.apostrophe:
                let text = string()
                if isImport { add(text) }
            case UInt8(ascii: "u"), UInt8(ascii: "U"):
                if !wasInName, scanner.pass("url(") {
                    add(reference())
                } else {
                    scanner.pass()
                    isInName = true
                }
            case ASCII.at:
                scanner.pass()
                beginRule()
            case ASCII.semicolon:
                scanner.pass()
                isImport = false
            case ASCII.leftBrace:
                scanner.pass()
                font?.isOpen = true
                isImport = false
            case ASCII.rightBrace:
                scanner.pass()
                font = nil
            default:
                scanner.pass()
                isInName = ASCII.isLetter(octet) || ASCII.isDigit(octet) || "-_\\".utf8.contains(octet) || octet > 0x7F
            }
        }
        return links
    }

    private mutating func beginRule() {
        font = nil
        if scanner.pass("import") {
            isImport = true
        } else if scanner.pass("font-face") {
            font = (false, false)
        } else if scanner.pass("namespace") {
            // The name of a language, which nobody requests.
            scanner.pass { $0 != ASCII.semicolon }
        }
    }

    private mutating func add(_ reference: [UInt8]) {
        guard !reference.isEmpty, reference.first != ASCII.numberSign else { return }
        let reference = Octets(reference)
        if isImport {
            isImport = false
            links.append(PageLink(reference, .style))
        } else if let font, font.isOpen {
            // A browser takes the first file in a format that it knows.
            guard !font.isFound, !StyleLinks.isOutdatedFont(reference) else { return }
            self.font?.isFound = true
            links.append(PageLink(reference, .font))
        } else {
            links.append(PageLink(reference, .image))
        }
    }

    /// Whether a font is in a format that browsers do not know any more.
    private static func isOutdatedFont(_ reference: Octets) -> Bool {
        let path = Octets(Array(reference.prefix { $0 != ASCII.questionMark && $0 != ASCII.numberSign })).lowercased
        return path.bytes.suffix(4) == Array(".eot".utf8)[...] || path.bytes.suffix(4) == Array(".svg".utf8)[...]
    }

    /// Reads what is between `url(` and its parenthesis.
    private mutating func reference() -> [UInt8] {
        scanner.pass(while: ASCII.isWhiteSpace)
        let isQuoted = scanner.next == ASCII.quote || scanner.next == ASCII.apostrophe
        let close = UInt8(ascii: ")")
        var reference = isQuoted ? string() : text { $0 == close || ASCII.isWhiteSpace($0) }
        scanner.pass(while: ASCII.isWhiteSpace)
        if !scanner.pass(close), scanner.next != nil {
            // This is no reference.
            reference = []
            scanner.pass { $0 != close && $0 != ASCII.rightBrace }
        }
        return reference
    }

    /// Reads a string. One that is not closed ends with its line.
    private mutating func string() -> [UInt8] {
        let quote = scanner.pass()
        let text = text { $0 == quote || $0 == ASCII.lineFeed }
        _ = quote.map { scanner.pass($0) }
        return text
    }

    /// Reads text up to an octet that ends it, and resolves its escapes.
    private mutating func text(until ends: (UInt8) -> Bool) -> [UInt8] {
        var text: [UInt8] = []
        while let octet = scanner.next, !ends(octet) {
            scanner.pass()
            guard octet == ASCII.backslash else {
                text.append(octet)
                continue
            }
            var digits = ""
            while digits.count < 6, let digit = scanner.next, ASCII.hexadecimalValue(digit) != nil {
                scanner.pass()
                digits.unicodeScalars.append(Unicode.Scalar(digit))
            }
            if let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) {
                text += Array(String(Character(scalar)).utf8)
                if let next = scanner.next, ASCII.isWhiteSpace(next) { scanner.pass() }
            } else if digits.isEmpty, let escaped = scanner.pass(), escaped != ASCII.lineFeed {
                text.append(escaped)
            }
        }
        return text
    }
}
