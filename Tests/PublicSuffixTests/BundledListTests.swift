import Foundation
import PublicSuffix
import Testing
import public_suffix_compiler

@Suite("The bundled list")
struct BundledListTests {
    private let list = PublicSuffixList.bundled

    @Test("names its version and counts its rules")
    func metadata() {
        #expect(list.version == "Debian publicsuffix \(Fixtures.debianVersion)")
        #expect(list.ruleCount == 9506)
    }

    @Test(
        "knows the names that people use",
        arguments: [
            ("www.example.com", "com", "example.com", .icann),
            ("www.shop.example.co.uk", "co.uk", "example.co.uk", .icann),
            ("co.uk", "co.uk", nil, .icann),
            ("alice.github.io", "github.io", "alice.github.io", .private),
            ("github.io", "github.io", nil, .private),
            ("a.b.compute.amazonaws.com", "b.compute.amazonaws.com", "a.b.compute.amazonaws.com", .private),
            ("compute.amazonaws.com", "com", "amazonaws.com", .icann),
            ("www.ck", "ck", "www.ck", .icann),
            ("shop.xn--55qx5d.cn", "xn--55qx5d.cn", "shop.xn--55qx5d.cn", .icann),
            ("localhost", "localhost", nil, nil),
            ("printer.lan", "lan", "printer.lan", nil),
        ] as [(String, String, String?, PublicSuffixList.Section?)])
    func knownNames(host: String, suffix: String, domain: String?, section: PublicSuffixList.Section?) {
        #expect(
            list.answer(for: host) == Answer(publicSuffix: suffix, registrableDomain: domain, section: section))
        #expect(list.isPublicSuffix(host) == (domain == nil))
    }

    @Test(
        "passes the vectors of publicsuffix.org",
        .enabled(if: !Fixtures.conformanceVectors.isEmpty, "no vectors at \(Fixtures.conformanceFile.path())"),
        arguments: Fixtures.conformanceVectors)
    func conformance(vector: ConformanceVector) {
        let host = canonicalHost(vector.host)
        #expect(list.registrableDomain(of: host) == vector.registrableDomain.map(canonicalHost))
    }

    @Test(
        "is the one of the Debian package, byte for byte",
        .enabled(if: Fixtures.debianList != nil, "Debian's publicsuffix \(Fixtures.debianVersion) is not installed"))
    func upToDate() throws {
        let file = try #require(Fixtures.debianList)
        let source = GeneratedSource(list: try PublicSuffixList(parsing: file), version: list.version)
        let path = Fixtures.packageRoot.appending(path: "Sources/PublicSuffix/BundledSuffixTable.swift")
        let isUpToDate = try String(contentsOf: path, encoding: .utf8) == source.text
        #expect(isUpToDate, "make it anew: \(path.lastPathComponent) says how")
    }

    @Test("comes out of its Swift file as it went in")
    func generatedSource() {
        let text = GeneratedSource(list: list, version: "a \"quoted\" \n version").text
        #expect(text.utf8.allSatisfy { octet in octet == 0x0A || (0x20..<0x7F).contains(octet) })
        #expect(text.contains(#"static let version = "a \"quoted\" \n version""#))
        let joined = text.replacing("\\#\n    ", with: "")
        for octets in [list.table.slots, list.table.labels] {
            let literal = "#\"\"\"\n    " + String(decoding: octets, as: UTF8.self) + "\n    \"\"\"#\n"
            let isThere = joined.contains(literal)
            #expect(isThere)
        }
    }
}
