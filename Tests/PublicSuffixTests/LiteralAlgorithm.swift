import PublicSuffix
import WebPrimitives

/// The algorithm of publicsuffix.org, word by word and as slow as that, to check the table against.
///
/// Rules are compared one by one. So that this ends, they are kept by their last two labels, in which no rule that matches
/// differs, or by the last one where the other is missing or a wildcard.
struct LiteralAlgorithm {
    struct Rule {
        let labels: [Substring]
        let isException: Bool
        let section: PublicSuffixList.Section

        /// "A domain is said to match a rule if and only if ..."
        func matches(_ domain: [Substring]) -> Bool {
            // "When the domain and rule are split into corresponding labels, that the domain contains as many or more labels
            // than the rule."
            guard domain.count >= labels.count else { return false }
            // "Beginning with the right-most labels of both the domain and the rule, and continuing for all labels in the
            // rule, one finds that for every pair, either they are identical, or that the label from the rule is "*"."
            return zip(domain.reversed(), labels.reversed()).allSatisfy { pair in pair.1 == "*" || pair.0 == pair.1 }
        }
    }

    private(set) var rules: [Rule] = []
    private var rulesByEnd: [ArraySlice<Substring>: [Rule]] = [:]

    /// Reads a list that has no errors.
    init(file: String) {
        var section = PublicSuffixList.Section.private
        for line in file.split(whereSeparator: \.isNewline) {
            if line.contains("===BEGIN ICANN DOMAINS===") { section = .icann }
            if line.contains("===BEGIN PRIVATE DOMAINS===") { section = .private }
            guard !line.hasPrefix("//"), let text = line.split(whereSeparator: \.isWhitespace).first else { continue }
            let isException = text.hasPrefix("!")
            let name = canonicalHost(String(isException ? text.dropFirst() : text))
            let rule = Rule(labels: name.split(separator: "."), isException: isException, section: section)
            rules.append(rule)
            let end = rule.labels.suffix(2)
            rulesByEnd[end.first == "*" ? end.suffix(1) : end, default: []].append(rule)
        }
    }

    /// The answer for a host without empty labels.
    func answer(for host: String) -> Answer {
        let domain = host.split(separator: ".")
        // "Match domain against all rules and take note of the matching ones."
        let candidates =
            rulesByEnd[domain.suffix(1), default: []]
            + (domain.count > 1 ? rulesByEnd[domain.suffix(2), default: []] : [])
        let matching = candidates.filter { rule in rule.matches(domain) }
        // "If more than one rule matches, the prevailing rule is the one which is an exception rule."
        // "If there is no matching exception rule, the prevailing rule is the one with the most labels."
        let exception = matching.first(where: \.isException)
        let prevailing = exception ?? matching.max { one, other in one.labels.count < other.labels.count }
        // "If no rules match, the prevailing rule is "*"."
        var suffixCount = prevailing?.labels.count ?? 1
        // "If the prevailing rule is a exception rule, modify it by removing the leftmost label."
        if prevailing?.isException == true { suffixCount -= 1 }
        // "The public suffix is the set of labels from the domain which match the labels of the prevailing rule, using the
        // matching algorithm above." "The registered or registrable domain is the public suffix plus one additional label."
        return Answer(
            publicSuffix: domain.suffix(suffixCount).joined(separator: "."),
            registrableDomain: domain.count > suffixCount
                ? domain.suffix(suffixCount + 1).joined(separator: ".") : nil,
            section: prevailing?.section)
    }
}

/// What a list says of a host.
struct Answer: Equatable {
    var publicSuffix: String
    var registrableDomain: String?
    var section: PublicSuffixList.Section?
}

extension PublicSuffixList {
    func answer(for host: String) -> Answer {
        Answer(
            publicSuffix: publicSuffix(of: host), registrableDomain: registrableDomain(of: host),
            section: section(of: host))
    }
}

/// Lower case, and A-labels for U-labels: enough for the hosts of the tests.
func canonicalHost(_ host: String) -> String {
    host.lowercased().split(separator: ".", omittingEmptySubsequences: false).map { label in
        guard !label.utf8.allSatisfy({ octet in octet < 0x80 }),
            let encoded = Punycode.encode(Array(label.unicodeScalars))
        else { return String(label) }
        return "xn--" + String(decoding: encoded, as: UTF8.self)
    }.joined(separator: ".")
}
