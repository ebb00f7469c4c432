import Foundation
import PublicSuffix
import Testing

@Suite("Rules added to a list")
struct AddedRulesTests {
    @Test("The rules of the list still apply, and the added ones too")
    func bundled() throws {
        let list = try PublicSuffixList.bundled.adding(["internal.example", "*.dev.example", "!www.dev.example"])
        #expect(list.ruleCount == PublicSuffixList.bundled.ruleCount + 3)
        #expect(list.version == PublicSuffixList.bundled.version)
        #expect(list.registrableDomain(of: "a.ada.internal.example") == "ada.internal.example")
        #expect(list.section(of: "ada.internal.example") == .private)
        #expect(list.isPublicSuffix("ada.dev.example"))
        #expect(list.registrableDomain(of: "a.www.dev.example") == "www.dev.example")
        for host in [
            "www.example.co.uk", "a.github.io", "city.kawasaki.jp", "a.b.c.kawasaki.jp", "x.www.ck", "a.b.ck",
            "localhost",
        ] {
            #expect(list.registrableDomain(of: host) == PublicSuffixList.bundled.registrableDomain(of: host), "\(host)")
            #expect(list.section(of: host) == PublicSuffixList.bundled.section(of: host), "\(host)")
        }
    }

    @Test("A list keeps all its rules, and a rule that it has already stays as it is")
    func same() throws {
        let list = try PublicSuffixList.bundled.adding(["co.uk", "*.ck", "!www.ck"])
        #expect(list.ruleCount == PublicSuffixList.bundled.ruleCount)
        #expect(list.section(of: "a.co.uk") == .icann)
        #expect(try list.adding([]).ruleCount == list.ruleCount)
        #expect(PublicSuffixList.bundled == .bundled)
        #expect(try PublicSuffixList.bundled.adding(["internal.example"]) != .bundled)
    }

    @Test("A text that is not a rule is an error with its number")
    func invalid() throws {
        let error = #expect(throws: PublicSuffixListError.self) {
            try PublicSuffixList.bundled.adding(["internal.example", "a..b"])
        }
        #expect(error?.code == .emptyLabel && error?.line == 2)
        #expect(error?.localizedDescription == error?.description)
    }
}
