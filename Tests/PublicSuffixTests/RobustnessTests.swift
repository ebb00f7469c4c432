import PublicSuffix
import TestSupport
import Testing

@Suite("Lookups accept any octets")
struct RobustnessTests {
    @Test("The answers for a random host are consistent with each other", arguments: 1...8)
    func randomOctets(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("abckmou-.....\u{0}".utf8) + [0x80, 0xFF]
        for _ in 0..<2000 {
            let length = Int.random(in: 0...40, using: &generator)
            let front = (0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
            let ends = ["", ".com", ".co.uk", "com", ".ck", ".kobe.jp", ".compute.amazonaws.com", "."]
            let host = front + Array(ends[Int.random(in: ends.indices, using: &generator)].utf8)
            let problem = Self.problem(with: host)
            if let problem { Issue.record("\(host): \(problem)") }
        }
    }

    @Test("Hosts with any octet, alone and as a label, have consistent answers")
    func singleOctets() {
        for octet in UInt8.min...UInt8.max {
            #expect(Self.problem(with: [octet]) == nil)
            #expect(Self.problem(with: [octet] + Array(".com".utf8)) == nil)
            #expect(Self.problem(with: Array("com.".utf8) + [octet]) == nil)
        }
    }

    @Test(
        "A label longer than any in the list is an ordinary label",
        arguments: [62, 63, 64, 65, 127, 128, 255, 256, 319, 320])
    func longLabels(length: Int) {
        let host = String(repeating: "a", count: length) + ".com"
        #expect(PublicSuffixList.bundled.registrableDomain(of: host) == host)
        #expect(PublicSuffixList.bundled.registrableDomain(of: "com." + String(host.dropLast(4))) != nil)
    }

    @Test(
        "A host of ten megabytes is looked up in linear time", .timeLimit(.minutes(1)),
        arguments: ["a", ".", "a.", "com."])
    func large(unit: String) {
        let size = 10_000_000
        var host: [UInt8] = []
        while host.count < size { host += unit.utf8 }
        host += "com".utf8
        let list = PublicSuffixList.bundled
        let isOneName = unit == "a" || unit == "."
        #expect(list.publicSuffixLength(of: host.span) == (isOneName ? host.count : 3))
    }

    /// What is wrong with the answers for a host, whatever it is.
    private static func problem(with host: [UInt8]) -> String? {
        let list = PublicSuffixList.bundled
        let dot = UInt8(ascii: ".")
        let suffixLength = list.publicSuffixLength(of: host.span)
        let domainLength = list.registrableDomainLength(of: host.span)
        let isSuffix = list.isPublicSuffix(host.span)
        let isMalformed = host.split(separator: dot, omittingEmptySubsequences: false).contains(where: \.isEmpty)

        guard (0...host.count).contains(suffixLength) else { return "the suffix is longer than the host" }
        guard isSuffix == (suffixLength == host.count) else { return "it is a suffix and not all of it is" }
        guard isSuffix == (domainLength == nil) else { return "it is a suffix and has a registrable domain" }
        guard !isMalformed || (isSuffix && list.section(of: host.span) == nil) else { return "an empty label" }
        guard let domainLength else { return nil }
        guard host[host.count - suffixLength - 1] == dot else { return "the suffix does not begin at a label" }
        guard domainLength == host.count || host[host.count - domainLength - 1] == dot else {
            return "the domain does not begin at a label"
        }
        let extra = host.suffix(domainLength).dropLast(suffixLength + 1)
        return extra.isEmpty || extra.contains(dot) ? "the domain is not one label more than the suffix" : nil
    }
}
