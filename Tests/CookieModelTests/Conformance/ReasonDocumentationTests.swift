import CookieModel
import Foundation
import Testing

@Suite("The documentation of reasons")
struct ReasonDocumentationTests {
    /// The rows of each table of docs/reasons.md, by heading: the first and the last cell.
    private static func tables() throws -> [String: [(identifier: String, remedy: String)]] {
        var tables: [String: [(identifier: String, remedy: String)]] = [:]
        var heading = ""
        for line in try Documentation.text("docs/reasons.md").split(separator: "\n") {
            if line.hasPrefix("## ") {
                heading = String(line.dropFirst(3))
            } else if let cells = Documentation.cells(line), cells.first != "identifier" {
                tables[heading, default: []].append((cells[0], cells[cells.count - 1]))
            }
        }
        return tables
    }

    /// Holds the table under a heading against the reasons of the code: each once, with the remedy in its words.
    private func check<Reason: DecisionReason>(_ heading: String, _ reasons: Reason.Type) throws {
        let rows = try ReasonDocumentationTests.tables()[heading] ?? []
        #expect(Set(rows.map(\.identifier)) == Set(Reason.allCases.map(\.identifier)))
        #expect(rows.count == Reason.allCases.count)
        for reason in Reason.allCases {
            let documented = rows.first { $0.identifier == reason.identifier }?.remedy
            #expect(documented?.replacing("`", with: "") == reason.commandRemedy, "\(reason.identifier)")
        }
        #expect(Set(Reason.allCases.map(\.identifier)).count == Reason.allCases.count)
    }

    @Test("Every reason is documented with its remedy, and no other is")
    func complete() throws {
        try check("Why a cookie is rejected", RejectionReason.self)
        try check("Why a cookie is not sent", ExclusionReason.self)
        try check("Why a stored cookie is evicted", EvictionReason.self)
    }

    @Test("An explanation and a fix each follow a word of their own, and name who acts")
    func wellFormed() {
        let reasons: [any DecisionReason] =
            RejectionReason.allCases + ExclusionReason.allCases + EvictionReason.allCases
        for reason in reasons {
            #expect(reason.explanation.count > 10 && !reason.explanation.hasSuffix("."), "\(reason.identifier)")
            #expect(reason.remedy.first?.isLowercase == true, "\(reason.identifier)")
            #expect(!reason.remedy.contains("server: ") && !reason.remedy.contains("user: "), "\(reason.identifier)")
            #expect(!reason.remedy.hasSuffix("."), "\(reason.identifier)")
            // An app has no options and no commands.
            #expect(!reason.remedy.contains(" --") && !reason.remedy.contains("crumb"), "\(reason.identifier)")
        }
    }
}
