public import WebPrimitives

extension CachingRules {
    /// The most lines of a table.
    private static let lineLimit = 10_000

    /// Reads a table of rules: one in a line, a treatment and a prefix or pattern of URLs, apart by blanks.
    ///
    /// ```
    /// # what                        where
    /// never-store                   https://shop.example/account/
    /// always-ask                    https://shop.example/api/prices
    /// keep                          *.woff2
    /// returnCacheDataElseLoad       https://*.cdn.example/*
    /// ```
    ///
    /// Treatments are `never-store`, `always-ask`, `keep`, and the names of ``RequestCachePolicy``. The first line that
    /// matches decides. A `#` at the beginning of a line or after a blank begins a comment. A byte order mark at the
    /// beginning of the table does not count. The built-in rules apply after the table.
    ///
    /// - Throws: ``CachingRulesError`` for the first line that is not such a rule.
    public init(table: String) throws(CachingRulesError) {
        var rules: [Rule] = []
        var number = 0
        let mark = "\u{FEFF}".unicodeScalars.first
        let text = table.unicodeScalars.first == mark ? String(table.unicodeScalars.dropFirst()) : table
        // In a string, the two ends of a line of Windows are one character.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            number += 1
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }.prefix {
                $0.utf8.first != UInt8(ascii: "#")
            }
            guard let first = words.first else { continue }
            do throws(CachingRulesError.Reason) {
                guard rules.count < Self.lineLimit else { throw .tooManyRules }
                guard words.count == 2 else { throw .wordsInvalid }
                guard !words[1].utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
                guard let treatment = Self.treatment(String(first)) else { throw .treatmentUnknown }
                rules.append(Rule(line: number, pattern: try URLPattern(String(words[1])), treatment: treatment))
            } catch {
                throw CachingRulesError(line: number, reason: error)
            }
        }
        self.init(userRules: rules, appliesBuiltInRules: true)
    }

    private static func treatment(_ name: String) -> CachingTreatment? {
        [.neverStore, .validate, .keep].first { $0.name == name }
            ?? RequestCachePolicy(rawValue: name).map { $0.treatment ?? .protocol }
    }
}

/// Why a text is not a table of caching rules.
public struct CachingRulesError: DescribedError, Sendable, Hashable {
    /// The kind of error.
    package enum Reason: String, Sendable {
        /// A line does not have two words.
        case wordsInvalid = "rule-words-invalid"
        /// The first word is no treatment.
        case treatmentUnknown = "rule-treatment-unknown"
        /// The second word has a `#`: a request has no fragment.
        case fragment = "rule-fragment"
        /// The second word is no prefix or pattern.
        case patternInvalid = "rule-pattern-invalid"
        /// There are more than 10,000 rules.
        case tooManyRules = "rules-too-many"
    }

    /// The number of the line.
    public let line: Int
    /// The kind of error.
    package let reason: Reason

    /// One sentence that names the remedy.
    public var description: String { "line \(line): \(reason)" }
}

extension CachingRulesError.Reason: DescribedError {
    /// One sentence that names the remedy.
    package var description: String {
        switch self {
        case .wordsInvalid: "a rule is a treatment and a URL, such as 'keep https://shop.example/fonts/'"
        case .treatmentUnknown:
            "unknown treatment. Write never-store, always-ask, keep, or a policy such as returnCacheDataElseLoad"
        case .fragment:
            "a request has no fragment, so '#' has no place in a URL or pattern. Write %23 for the octet, or a blank "
                + "before a comment"
        case .patternInvalid:
            "not a URL or pattern. Write one such as https://shop.example/fonts/, https://*.shop.example/*.css or "
                + "*.woff2"
        case .tooManyRules: "a table has at most 10000 rules"
        }
    }
}
