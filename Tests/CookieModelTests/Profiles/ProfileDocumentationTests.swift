import CookieModel
import Foundation
import Testing

@Suite("The documentation of profiles")
struct ProfileDocumentationTests {
    /// The rows of the table whose head begins with `head`, without backticks.
    private static func table(_ head: String) throws -> [[String]] {
        var rows: [[String]] = []
        var isInside = false
        for line in try Documentation.text("docs/profiles.md").split(separator: "\n", omittingEmptySubsequences: false)
        {
            if line.hasPrefix("| --- ") { continue }
            guard let cells = Documentation.cells(line)?.map({ $0.replacing("`", with: "") }) else {
                isInside = false
                continue
            }
            if isInside { rows.append(cells) }
            isInside = isInside || cells[0] == head
        }
        return rows
    }

    /// The flags that the code declares, by their bits.
    private static func flags() throws -> [String] {
        let text = try Documentation.text("Sources/CookieModel/Policy/CookiePolicy.swift")
        return text.matches(of: /static let (\w+) = CookieProfile\(rawValue: 1 << (\d+)\)/)
            .sorted { (Int($0.2) ?? 0) < (Int($1.2) ?? 0) }.map { String($0.1) }
    }

    /// The names and values of a structure's fields, `none` for `nil`.
    private static func fields(of value: Any) -> [String: String] {
        let pairs = Mirror(reflecting: value).children.map { child in
            let optional = Mirror(reflecting: child.value)
            let isNone = optional.displayStyle == .optional && optional.children.isEmpty
            let value = optional.displayStyle == .optional ? optional.children.first?.value ?? "" : child.value
            return (child.label ?? "", isNone ? "none" : "\(value)")
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test("Has a row for each flag, in order, and the browser profile has every flag")
    func flags() throws {
        let flags = try ProfileDocumentationTests.flags()
        #expect(!flags.isEmpty)
        #expect(try ProfileDocumentationTests.table("flag").map { $0[0] } == flags)
        #expect(CookieProfile.browser.rawValue == 1 << flags.count - 1)
        #expect(CookieProfile.rfc6265bis.isEmpty)
        #expect(CookiePolicy().profile == .rfc6265bis)
    }

    @Test("Has a row for each parameter of a policy, with its default")
    func parameters() throws {
        var fields = ProfileDocumentationTests.fields(of: CookiePolicy())
        // It is for a client of the package's own.
        fields["keepsWitnesses"] = nil
        let rows = try ProfileDocumentationTests.table("CookiePolicy")
        #expect(Set(rows.map { $0[0] }) == Set(fields.keys) && rows.count == fields.count)
        for row in rows where !["profile", "publicSuffixes", "limits"].contains(row[0]) {
            #expect(row[1] == fields[row[0]], "\(row[0])")
        }
    }

    @Test("Has a row for each limit, with its default in both profiles")
    func limits() throws {
        let plain = ProfileDocumentationTests.fields(of: CookiePolicy().limits)
        let browser = ProfileDocumentationTests.fields(of: CookiePolicy(profile: .browser).limits)
        let rows = try ProfileDocumentationTests.table("CookieLimits")
        #expect(Set(rows.map { $0[0] }) == Set(plain.keys) && rows.count == plain.count)
        for row in rows { #expect(row[1] == plain[row[0]] && row[2] == browser[row[0]], "\(row[0])") }
    }

    @Test("Every test that it names is there", arguments: ["flag", "CookiePolicy", "CookieLimits", "draft text"])
    func tests(head: String) throws {
        let folder = "Tests/CookieModelTests"
        for row in try ProfileDocumentationTests.table(head) {
            let name = try #require(row.last?.split(separator: ".").map(String.init))
            let files = ["Profiles", "Limits", "Parsing", "Retrieval"].compactMap {
                try? Documentation.text("\(folder)/\($0)/\(name[0]).swift")
            }
            #expect(files.count == 1, "\(name)")
            #expect(name.count == 1 || files.first?.contains("func \(name[1])(") == true, "\(name)")
        }
    }
}
