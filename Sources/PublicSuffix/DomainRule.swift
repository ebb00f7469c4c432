import WebPrimitives

/// One rule of the list, checked and in A-labels.
struct DomainRule: Hashable {
    enum Kind: Hashable {
        /// `co.uk`: the name itself is a public suffix.
        case name
        /// `*.ck`: every name one label below is a public suffix.
        case wildcard
        /// `!www.ck`: the name is not a public suffix although a wildcard covers it.
        case exception
    }

    static let maximumLength = 253
    static let maximumLabelLength = 63

    let kind: Kind

    /// The labels without `!` and `*`, from the first to the last. Only the rule `*` has none.
    let labels: [[UInt8]]
}

extension DomainRule {
    /// Reads a rule from its line, without surrounding white space.
    ///
    /// The format allows `*` for any label of a rule. Like every list so far, and the libraries that read it, this reader
    /// allows it only for the first.
    init(parsing text: some Collection<UInt8>) throws(PublicSuffixListError) {
        var rest = text[...]
        let isException = rest.first == UInt8(ascii: "!")
        if isException { rest = rest.dropFirst() }
        // A label never gets shorter as an A-label, counted in scalars, and a scalar has four octets at most.
        guard rest.count <= 4 * Self.maximumLength else { throw PublicSuffixListError(.ruleTooLong) }
        guard let name = String(validating: rest, as: UTF8.self) else { throw PublicSuffixListError(.invalidUTF8) }

        var parts = name.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)[...]
        let isWildcard = !isException && parts.first.map { part in part.elementsEqual(["*"]) } == true
        if isWildcard { parts = parts.dropFirst() }
        var labels: [[UInt8]] = []
        for part in parts {
            labels.append(try Self.label(part))
        }
        let length = labels.reduce(isWildcard ? 1 : -1) { sum, label in sum + label.count + 1 }
        guard length <= Self.maximumLength else { throw PublicSuffixListError(.ruleTooLong) }
        guard !isException || labels.count > 1 else { throw PublicSuffixListError(.exceptionTooShort) }
        self.init(kind: isException ? .exception : isWildcard ? .wildcard : .name, labels: labels)
    }

    /// The lower-case A-label of one label.
    private static func label(_ text: Substring.UnicodeScalarView) throws(PublicSuffixListError) -> [UInt8] {
        let scalars = text.flatMap(\.properties.lowercaseMapping.unicodeScalars)
        guard !scalars.isEmpty else { throw PublicSuffixListError(.emptyLabel) }
        guard !scalars.contains("*") else { throw PublicSuffixListError(.misplacedWildcard) }
        guard scalars.allSatisfy(isAllowed) else { throw PublicSuffixListError(.invalidCharacter) }
        guard scalars.count <= maximumLabelLength else { throw PublicSuffixListError(.labelTooLong) }
        guard !scalars.allSatisfy(\.isASCII) else {
            return scalars.map { scalar in UInt8(truncatingIfNeeded: scalar.value) }
        }
        guard let encoded = Punycode.encode(scalars) else { throw PublicSuffixListError(.invalidCharacter) }
        let label = Array("xn--".utf8) + encoded
        guard label.count <= maximumLabelLength else { throw PublicSuffixListError(.labelTooLong) }
        return label
    }

    /// Whether the scalar is a letter, a mark, a digit, the hyphen, the low line, or one that RFC 5892 allows in
    /// context.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "0"..."9", "-", "_": true
        case "\u{00B7}", "\u{0375}", "\u{05F3}", "\u{05F4}", "\u{200C}", "\u{200D}", "\u{30FB}": true
        case _ where scalar.isASCII: false
        default:
            switch scalar.properties.generalCategory {
            case .lowercaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark, .decimalNumber: true
            default: false
            }
        }
    }
}
