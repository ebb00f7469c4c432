@testable import PublicSuffix

/// The rules of a list, one after the other, and the algorithm of publicsuffix.org as it is written there.
struct LiteralList {
    private let rules: [DomainRule]

    init(parsing file: [UInt8]) throws(PublicSuffixListError) {
        rules = try SuffixListFile(parsing: file).entries.map(\.rule)
    }

    func publicSuffixLength(of host: [UInt8]) -> Int {
        let labels = host.split(separator: SuffixTable.dot, omittingEmptySubsequences: false)
        guard !labels.contains(where: \.isEmpty) else { return host.count }
        // "If no rules match, the prevailing rule is "*"."
        var labelCount = 1
        for rule in rules where matches(rule, labels) {
            // "If more than one rule matches, the prevailing rule is the one which is an exception rule." "If the
            // prevailing rule is a exception rule, modify it by removing the leftmost label."
            if rule.kind == .exception {
                labelCount = exceptionLabelCount(labels)
                break
            }
            labelCount = max(labelCount, rule.labels.count + (rule.kind == .wildcard ? 1 : 0))
        }
        return labels.suffix(labelCount).reduce(labelCount - 1) { $0 + $1.count }
    }

    /// Of several exceptions the longest one prevails.
    private func exceptionLabelCount(_ labels: [ArraySlice<UInt8>]) -> Int {
        rules.filter { $0.kind == .exception && matches($0, labels) }.map { $0.labels.count - 1 }.max() ?? 1
    }

    private func matches(_ rule: DomainRule, _ labels: [ArraySlice<UInt8>]) -> Bool {
        let needed = rule.labels.count + (rule.kind == .wildcard ? 1 : 0)
        return needed <= labels.count
            && zip(rule.labels.reversed(), labels.reversed()).allSatisfy { $0.elementsEqual($1) }
    }
}
