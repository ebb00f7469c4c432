public import WebPrimitives

/// The lines of a list file that mean something.
struct SuffixListFile {
    struct Entry {
        let rule: DomainRule
        let section: PublicSuffixList.Section
        let line: Int
    }

    /// The rules in the order of the file.
    private(set) var entries: [Entry] = []

    /// The text after `VERSION:` in a comment, which lists have had since 2023.
    private(set) var version: String?

    private var section: PublicSuffixList.Section?

    init(parsing file: [UInt8]) throws(PublicSuffixListError) {
        var lineNumber = 0
        var rest = file[...]
        if rest.starts(with: Self.byteOrderMark) { rest = rest.dropFirst(Self.byteOrderMark.count) }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            lineNumber += 1
            do {
                try read(rest[..<end].drop(while: Self.isWhitespace), number: lineNumber)
            } catch {
                throw PublicSuffixListError(error.code, line: lineNumber)
            }
            rest = rest[end...].dropFirst()
        }
        guard section == nil else { throw PublicSuffixListError(.unbalancedSection, line: lineNumber) }
        guard !entries.isEmpty else { throw PublicSuffixListError(.noRules) }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, number: Int) throws(PublicSuffixListError) {
        // "Each line is only read up to the first whitespace; entire lines can also be commented using //."
        if line.starts(with: Self.commentMark) {
            try readComment(line.dropFirst(Self.commentMark.count).drop(while: Self.isWhitespace))
            return
        }
        let text = line.prefix { octet in !Self.isWhitespace(octet) }
        guard !text.isEmpty else { return }
        let rule = try DomainRule(parsing: text)
        // The rule `*` is the default that every list has, so it adds nothing.
        guard !rule.labels.isEmpty else { return }
        entries.append(Entry(rule: rule, section: section ?? .private, line: number))
    }

    private mutating func readComment(_ comment: ArraySlice<UInt8>) throws(PublicSuffixListError) {
        if comment.starts(with: Self.versionMark), version == nil {
            let text = comment.dropFirst(Self.versionMark.count).split(whereSeparator: Self.isWhitespace).first ?? []
            version = text.isEmpty ? nil : String(decoding: text.prefix(Self.maximumVersionLength), as: UTF8.self)
        }
        for (named, markers) in Self.sectionMarkers {
            if comment.starts(with: markers.begin) {
                guard section == nil else { throw PublicSuffixListError(.unbalancedSection) }
                section = named
            } else if comment.starts(with: markers.end) {
                guard section == named else { throw PublicSuffixListError(.unbalancedSection) }
                section = nil
            }
        }
    }
}

extension SuffixListFile {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let commentMark = Array("//".utf8)
    private static let versionMark = Array("VERSION:".utf8)
    private static let maximumVersionLength = 64
    private static let sectionMarkers: [(PublicSuffixList.Section, (begin: [UInt8], end: [UInt8]))] = [
        (.icann, (Array("===BEGIN ICANN DOMAINS===".utf8), Array("===END ICANN DOMAINS===".utf8))),
        (.private, (Array("===BEGIN PRIVATE DOMAINS===".utf8), Array("===END PRIVATE DOMAINS===".utf8))),
    ]

    private static func isWhitespace(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: " "), 0x09...0x0D: true
        default: false
        }
    }
}

/// Why a file is not a public suffix list.
public struct PublicSuffixListError: DescribedError, Sendable, Hashable {
    /// The kind of failure. New codes may be added; the raw value of a code never changes.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The stable name of the code.
        public let rawValue: String

        /// Makes a code from its stable name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The file has no rule.
        package static let noRules = Self(rawValue: "no-rules")
        /// A rule is not UTF-8.
        package static let invalidUTF8 = Self(rawValue: "invalid-utf8")
        /// A label has a character that no domain name has.
        package static let invalidCharacter = Self(rawValue: "invalid-character")
        /// A rule has nothing between two dots, or before the first or after the last.
        package static let emptyLabel = Self(rawValue: "empty-label")
        /// A label is longer than 63 octets as an A-label.
        package static let labelTooLong = Self(rawValue: "label-too-long")
        /// A rule is longer than 253 octets with A-labels.
        package static let ruleTooLong = Self(rawValue: "rule-too-long")
        /// A `*` is not the whole first label of a rule, or the rule is an exception.
        package static let misplacedWildcard = Self(rawValue: "misplaced-wildcard")
        /// An exception has one label only, so that nothing would be left as the suffix.
        package static let exceptionTooShort = Self(rawValue: "exception-too-short")
        /// A section begins inside another, ends without a beginning, or never ends.
        package static let unbalancedSection = Self(rawValue: "unbalanced-section")
        /// The list has more labels than the table can number.
        package static let listTooLarge = Self(rawValue: "list-too-large")
    }

    /// The kind of failure.
    public let code: Code

    /// The line it is wrong in, counted from 1; `nil` if it is wrong with the file as a whole.
    public let line: Int?

    init(_ code: Code, line: Int? = nil) {
        self.code = code
        self.line = line
    }
}

extension PublicSuffixListError {
    /// One sentence with the line number, for people.
    public var description: String {
        let sentence =
            switch code {
            case .noRules: "the list has no rules"
            case .invalidUTF8: "the rule is not UTF-8"
            case .invalidCharacter: "the rule has a character that no domain name has"
            case .emptyLabel: "the rule has an empty label"
            case .labelTooLong: "a label of the rule is longer than \(DomainRule.maximumLabelLength) octets"
            case .ruleTooLong: "the rule is longer than \(DomainRule.maximumLength) octets"
            case .misplacedWildcard: "a '*' is allowed only as the whole first label of a rule without '!'"
            case .exceptionTooShort: "an exception needs two labels or more"
            case .unbalancedSection: "the BEGIN and END markers of the sections do not match; is the file complete?"
            case .listTooLarge: "the list is too large"
            default: code.rawValue
            }
        guard let line else { return "public suffix list: \(sentence)" }
        return "public suffix list, line \(line): \(sentence)"
    }
}
