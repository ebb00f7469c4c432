import PublicSuffix
import Testing

@Suite("A list file")
struct ParsingTests {
    @Test("Comments, blank lines, CRLF, a byte order mark and text after a rule are accepted")
    func layout() throws {
        let file = "\u{FEFF}// a comment\r\n\r\n  \t\r\ncom\r\n\tnet  and more\r\nCO.uk // why\r\n// org"
        let list = try PublicSuffixList(parsing: file.utf8)
        #expect(list.ruleCount == 3)
        #expect(list.isPublicSuffix("co.uk"))
        #expect(list.section(of: "a.net") == .private)
        #expect(list.section(of: "a.org") == nil)
    }

    @Test("A list has the version that it states, and otherwise \"unversioned\"")
    func version() throws {
        let file = "// VERSION: 2025-01-02_03-04-05_UTC\n// COMMIT: 1234\n// VERSION: 1\ncom"
        #expect(try PublicSuffixList(parsing: file.utf8).version == "2025-01-02_03-04-05_UTC")
        #expect(try PublicSuffixList(parsing: "com".utf8).version == "unversioned")
        #expect(try PublicSuffixList(parsing: "// VERSION:\ncom".utf8).version == "unversioned")
    }

    @Test("A rule belongs to its section; rules outside of any section are private")
    func sections() throws {
        let file = """
            before
            // ===BEGIN ICANN DOMAINS===
            icann
            // ===END ICANN DOMAINS===
            //===BEGIN PRIVATE DOMAINS===
            private
            icann
            // ===END PRIVATE DOMAINS===
            // ===BEGIN SOMETHING ELSE===
            """
        let list = try PublicSuffixList(parsing: file.utf8)
        #expect(list.section(of: "a.before") == .private)
        #expect(list.section(of: "a.icann") == .icann)
        #expect(list.section(of: "a.private") == .private)
        #expect(list.ruleCount == 3)
    }

    @Test("The default rule applies whether the list states it or not")
    func defaultRule() throws {
        let list = try PublicSuffixList(parsing: "*\ncom".utf8)
        #expect(list.ruleCount == 1)
        #expect(list.section(of: "a.local") == nil)
        #expect(list.registrableDomain(of: "a.local") == "a.local")
    }

    @Test("A list can be parsed from any collection of octets")
    func collections() throws {
        #expect(try PublicSuffixList(parsing: [0x61, 0x62] as [UInt8]).isPublicSuffix("ab"))
        #expect(try PublicSuffixList(parsing: Array("xxcom".utf8).dropFirst(2)).isPublicSuffix("com"))
    }

    @Test("Rules of 253 octets and labels of 63 are accepted")
    func limits() throws {
        let label = String(repeating: "a", count: 63)
        let rule = [label, label, label, String(label.dropLast(2))].joined(separator: ".")
        let list = try PublicSuffixList(parsing: rule.utf8)
        #expect(list.isPublicSuffix(rule))
        #expect(list.registrableDomain(of: "b." + rule) == "b." + rule)
        #expect(list.registrableDomain(of: "a" + rule) != "a" + rule)
    }

    @Test(
        "The error for a malformed list has the line and a stable code",
        arguments: [
            ("", "no-rules", nil),
            ("// nothing\n\n", "no-rules", nil),
            ("*\n", "no-rules", nil),
            ("com\n\u{0}net", "invalid-character", 2),
            ("com\nex ample\na/b", "invalid-character", 3),
            ("exa\u{7F}mple", "invalid-character", 1),
            ("💥.com", "invalid-character", 1),
            ("a。b", "invalid-character", 1),
            (".com", "empty-label", 1),
            ("com\r\n\r\ncom.\r\n", "empty-label", 3),
            ("a..b", "empty-label", 1),
            ("!", "empty-label", 1),
            ("*.", "empty-label", 1),
            ("a.*.com", "misplaced-wildcard", 1),
            ("*.*.com", "misplaced-wildcard", 1),
            ("*a.com", "misplaced-wildcard", 1),
            ("!*.com", "misplaced-wildcard", 1),
            ("!com", "exception-too-short", 1),
            ("com\n" + String(repeating: "a", count: 64), "label-too-long", 2),
            (String(repeating: "ü", count: 60), "label-too-long", 1),
            (String(repeating: "a.", count: 127) + "a", "rule-too-long", 1),
            ("*." + String(repeating: "a.", count: 126), "empty-label", 1),
            ("*." + String(repeating: "a.", count: 126) + "a", "rule-too-long", 1),
            (String(repeating: "a", count: 100_000), "rule-too-long", 1),
            ("// ===BEGIN ICANN DOMAINS===\ncom", "unbalanced-section", 2),
            ("com\n// ===END ICANN DOMAINS===", "unbalanced-section", 2),
            ("// ===BEGIN ICANN DOMAINS===\n// ===BEGIN PRIVATE DOMAINS===", "unbalanced-section", 2),
            ("// ===BEGIN ICANN DOMAINS===\n// ===END PRIVATE DOMAINS===", "unbalanced-section", 2),
        ] as [(String, String, Int?)])
    func errors(file: String, code: String, line: Int?) throws {
        let error = try #require(throws: PublicSuffixListError.self) {
            try PublicSuffixList(parsing: file.utf8)
        }
        #expect(error.code.rawValue == code)
        #expect(error.line == line)
        #expect(error.description.hasPrefix(line.map { "public suffix list, line \($0): " } ?? "public suffix list: "))
        #expect(!error.description.hasSuffix(code), "a sentence of its own")
    }

    @Test("A list that is not UTF-8 is rejected, with overlong and incomplete forms too")
    func invalidUTF8() {
        for octets in [[0xFF], [0xC0, 0xAE], [0xE4, 0xBD], [0xED, 0xA0, 0x80], [0x61, 0x80]] as [[UInt8]] {
            #expect { try PublicSuffixList(parsing: octets) } throws: { error in
                (error as? PublicSuffixListError)?.code == .invalidUTF8
            }
        }
    }

    @Test("A list with more labels than the table can number is rejected")
    func tooLarge() {
        let file = (0..<90_000).map { number in "r\(number)" }.joined(separator: "\n")
        #expect { try PublicSuffixList(parsing: file.utf8) } throws: { error in
            (error as? PublicSuffixListError)?.code == .listTooLarge
        }
    }
}
