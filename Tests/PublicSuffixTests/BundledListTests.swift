import Foundation
import PublicSuffix
import Testing
import public_suffix_compiler

@Suite("The bundled list")
struct BundledListTests {
    private let list = PublicSuffixList.bundled

    @Test("The bundled list has the version and the number of rules of its file")
    func metadata() throws {
        let file = try PublicSuffixList(parsing: Fixtures.list())
        #expect(list.version == file.version && list.ruleCount == file.ruleCount)
        #expect(list.version.contains(/^20\d\d-\d\d-\d\d_/))
    }

    @Test(
        "Well-known hosts have the expected suffix, domain and section",
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

    @Test("The bundled list passes the test vectors of publicsuffix.org")
    func conformance() throws {
        let vectors = try Fixtures.vectors()
        #expect(vectors.count > 70)
        for vector in vectors {
            let domain = list.registrableDomain(of: canonicalHost(vector.host))
            #expect(domain == vector.registrableDomain.map(canonicalHost), "\(vector.host)")
        }
    }

    @Test("The bundled table is generated from the list file, byte for byte")
    func upToDate() throws {
        let source = GeneratedSource(list: try PublicSuffixList(parsing: Fixtures.list()))
        let isUpToDate = try String(contentsOf: Fixtures.table, encoding: .utf8) == source.text
        #expect(isUpToDate, "run Scripts/update-public-suffixes")
    }

    @Test("The generated source is ASCII and contains the table unchanged")
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
