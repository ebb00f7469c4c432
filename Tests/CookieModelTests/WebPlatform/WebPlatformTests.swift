import CookieScenarios
import Foundation
import Testing

@testable import CookieModel

/// The cookie tables of the Web Platform Tests, as scenarios.
///
/// The cases state what those tests ask of a browser, as far as a scenario can say it; `id` has the file and which of
/// its tests it is. Each holds to draft-ietf-httpbis-rfc6265bis-22 in `expected`; the `browser` profile answers the same,
/// or `browser` where that stands; the test itself asks for what the browser profile answers, or for `webPlatform` where
/// that stands. Wherever one of the three differs, `section` and `why` say what of the draft the difference is about.
@Suite("The Web Platform Tests")
struct WebPlatformTests {
    /// A scenario with what becomes of its last step.
    struct Case: Decodable {
        let id: String
        let expected: String
        let browser: String?
        let webPlatform: String?
        let section: String?
        let why: String?
    }

    /// A file of cases, how many it has, and how many of them are disagreements.
    struct Table: Sendable, CustomTestStringConvertible {
        let name: String
        let count: Int
        let disagreements: Int

        var testDescription: String { name }

        var lines: [Substring] {
            get throws {
                let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases/\(name).jsonl")
                return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            }
        }
    }

    static let tables = [
        Table(name: "pairs", count: 76, disagreements: 1),
        Table(name: "attributes", count: 117, disagreements: 1),
        Table(name: "domain", count: 72, disagreements: 1),
        Table(name: "paths", count: 44, disagreements: 0),
        Table(name: "prefixes", count: 216, disagreements: 11),
        Table(name: "same-site", count: 117, disagreements: 13),
        Table(name: "store", count: 56, disagreements: 0),
    ]

    private func parsed(_ line: Substring) throws -> Case {
        try JSONDecoder().decode(Case.self, from: Data(line.utf8))
    }

    /// What the last step of a scenario sends, in base64.
    private func sent(_ line: Substring, profile: String) throws -> String? {
        struct Answer: Decodable {
            struct Step: Decodable {
                let cookieBase64: String?
            }
            let results: [Step?]
        }
        let scenario = "{\"profile\": \"\(profile)\", " + line.dropFirst()
        let (answer, isScenario) = ScenarioLine.run(Array(scenario.utf8), realTime: Session.start)
        guard isScenario else { return String(decoding: answer, as: UTF8.self) }
        return try JSONDecoder().decode(Answer.self, from: Data(answer)).results.last??.cookieBase64
    }

    @Test("Every case has the result of draft 22", arguments: tables)
    func draft(table: Table) throws {
        let lines = try table.lines
        #expect(lines.count == table.count)
        for line in lines {
            let row = try parsed(line)
            #expect(try sent(line, profile: "rfc6265bis") == row.expected, "\(row.id)")
        }
    }

    @Test("Every case has the result of browsers, in their profile", arguments: tables)
    func browser(table: Table) throws {
        for line in try table.lines {
            let row = try parsed(line)
            let answer = try sent(line, profile: "browser")
            #expect(answer == row.browser ?? row.expected, "\(row.id)")
        }
    }

    @Test("Every disagreement is a true one, and is explained", arguments: tables)
    func disagreements(table: Table) throws {
        let rows = try table.lines.map(parsed)
        let explained = rows.filter { $0.why != nil && $0.section != nil }
        let differing = rows.filter { $0.browser ?? $0.expected != $0.expected || $0.webPlatform != nil }
        #expect(explained.map(\.id) == differing.map(\.id))
        #expect(differing.count == table.disagreements)
        #expect(rows.allSatisfy { $0.webPlatform != $0.browser ?? $0.expected })
        #expect(Set(rows.map(\.id)).count == rows.count)
    }
}
