import Foundation
import PublicSuffix
import TestSupport
import Testing

@Suite("The table agrees with the literal algorithm")
struct TwinTests {
    @Test("The bundled table agrees with the literal algorithm on hosts at each rule and on random hosts")
    func bundledList() throws {
        let twin = LiteralAlgorithm(file: String(decoding: try Fixtures.list(), as: UTF8.self))
        #expect(twin.rules.count == PublicSuffixList.bundled.ruleCount)
        var generator = SeededGenerator(seed: 1)
        var hosts: Set<String> = []
        for rule in twin.rules {
            let name = rule.labels.map { label in label == "*" ? "star" : label }.joined(separator: ".")
            hosts.formUnion([name, "x." + name])
            if let dot = name.firstIndex(of: ".") { hosts.insert("sibling" + name[dot...]) }
        }
        hosts.formUnion(Self.randomHosts(5000, from: twin.rules, using: &generator))
        expectAgreement(hosts, PublicSuffixList.bundled, twin)
    }

    @Test("Tables of random lists agree with the literal algorithm, with overlapping rules too", arguments: 1...40)
    func randomLists(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var lines: Set<String> = []
        for _ in 0..<30 {
            let name = Self.name(of: ["a", "b", "c"], lengths: 1...4, using: &generator)
            // Two exceptions that both match are not in the algorithm, so that all have two labels.
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: lines.insert("!" + Self.name(of: ["a", "b", "c"], lengths: 2...2, using: &generator))
            case 1: lines.insert("*." + name)
            default: lines.insert(name)
            }
        }
        let file = lines.sorted().joined(separator: "\n")
        let list = try PublicSuffixList(parsing: file.utf8)
        #expect(list.ruleCount == lines.count)
        let hosts = (0..<500).map { _ in Self.name(of: ["a", "b", "c", "d"], lengths: 1...6, using: &generator) }
        expectAgreement(Set(hosts), list, LiteralAlgorithm(file: file))
    }

    private func expectAgreement(_ hosts: Set<String>, _ list: PublicSuffixList, _ twin: LiteralAlgorithm) {
        let different = hosts.sorted().filter { host in list.answer(for: host) != twin.answer(for: host) }
        #expect(different.isEmpty, "\(different.count) of \(hosts.count) hosts")
    }

    private static func name(
        of labels: [String], lengths: ClosedRange<Int>, using generator: inout SeededGenerator
    ) -> String {
        let length = Int.random(in: lengths, using: &generator)
        return (0..<length).map { _ in labels[Int.random(in: labels.indices, using: &generator)] }
            .joined(separator: ".")
    }

    /// Hosts of labels that occur in rules, ending as rules do.
    private static func randomHosts(
        _ count: Int, from rules: [LiteralAlgorithm.Rule], using generator: inout SeededGenerator
    ) -> [String] {
        (0..<count).map { _ in
            let front = rules[Int.random(in: rules.indices, using: &generator)].labels
            let back = rules[Int.random(in: rules.indices, using: &generator)].labels
            let kept = back.suffix(Int.random(in: 1...3, using: &generator))
            return (front + kept).map { label in label == "*" ? "any" : label }.joined(separator: ".")
        }
    }
}
