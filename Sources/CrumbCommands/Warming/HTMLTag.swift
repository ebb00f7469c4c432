import CookieModel

/// A start tag with its attributes.
struct HTMLTag {
    /// The elements whose content is text for a browser that runs scripts.
    static let textElements: Set<Octets> = [
        "script", "style", "textarea", "title", "noscript", "iframe", "noembed", "noframes", "xmp",
    ]

    /// The name, in lower case.
    let name: Octets
    /// The values by the names in lower case. The first attribute of a name counts.
    private var attributes: [Octets: Octets] = [:]

    /// The value of an attribute; empty if it has none, and `nil` if it is missing.
    subscript(name: Octets) -> Octets? { attributes[name] }

    /// Reads a tag from its name on, through its end.
    init(_ scanner: inout LinkScanner) {
        name = Octets(Array(scanner.pass { !HTMLTag.endsName($0) })).lowercased
        while true {
            scanner.pass { ASCII.isWhiteSpace($0) || $0 == ASCII.slash }
            guard let octet = scanner.next, !scanner.pass(HTMLTag.end) else { return }
            var attribute = octet == ASCII.equals ? [ASCII.equals] : []
            if octet == ASCII.equals { scanner.pass() }
            attribute += scanner.pass { !HTMLTag.endsName($0) && $0 != ASCII.equals }
            let value = HTMLTag.value(&scanner)
            let name = Octets(attribute).lowercased
            if attributes[name] == nil { attributes[name] = value }
        }
    }

    private static let end = UInt8(ascii: ">")

    private static func endsName(_ octet: UInt8) -> Bool {
        ASCII.isWhiteSpace(octet) || octet == ASCII.slash || octet == end
    }

    private static func value(_ scanner: inout LinkScanner) -> Octets {
        scanner.pass(while: ASCII.isWhiteSpace)
        guard scanner.pass(ASCII.equals) else { return [] }
        scanner.pass(while: ASCII.isWhiteSpace)
        for quote in [ASCII.quote, ASCII.apostrophe] where scanner.pass(quote) {
            let value = scanner.pass { $0 != quote }
            scanner.pass()
            return decoded(value)
        }
        return decoded(scanner.pass { !ASCII.isWhiteSpace($0) && $0 != end })
    }

    /// The characters that have names and occur in URLs and styles.
    private static let characters: [Octets: UInt8] = [
        "amp": ASCII.ampersand, "quot": ASCII.quote, "apos": ASCII.apostrophe, "lt": UInt8(ascii: "<"), "gt": end,
    ]

    /// A value without its character references. Those with other names stay.
    private static func decoded(_ value: ArraySlice<UInt8>) -> Octets {
        guard value.contains(ASCII.ampersand) else { return Octets(Array(value)) }
        var decoded: [UInt8] = []
        var rest = value
        while let octet = rest.popFirst() {
            // The longest reference is `&#x10FFFF;`.
            if octet == ASCII.ampersand, let end = rest.prefix(10).firstIndex(of: ASCII.semicolon),
                let character = character(Octets(Array(rest[..<end])))
            {
                decoded += character
                rest = rest[(end + 1)...]
            } else {
                decoded.append(octet)
            }
        }
        return Octets(decoded)
    }

    private static func character(_ name: Octets) -> [UInt8]? {
        if let octet = characters[name] { return [octet] }
        guard name.first == ASCII.numberSign else { return nil }
        let digits = String(decoding: name.dropFirst(), as: UTF8.self)
        let number = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) }
    }
}
