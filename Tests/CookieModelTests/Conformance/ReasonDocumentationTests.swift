import CookieModel
import Foundation
import Testing

@Suite("The documentation of reasons")
struct ReasonDocumentationTests {
    /// The identifiers in the first column of each table of docs/reasons.md, by heading.
    private static func tables() throws -> [String: [String]] {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/reasons.md"), encoding: .utf8)
        var tables: [String: [String]] = [:]
        var heading = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("## ") {
                heading = String(line.dropFirst(3))
            } else if line.hasPrefix("| "), !line.hasPrefix("| identifier"), !line.hasPrefix("| ---") {
                tables[heading, default: []].append(line.split(separator: "|")[0].trimmingCharacters(in: .whitespaces))
            }
        }
        return tables
    }

    @Test("Every reason is documented, and no other is")
    func complete() throws {
        let tables = try ReasonDocumentationTests.tables()
        #expect(
            Set(tables["Why a cookie is refused"] ?? []) == Set(RejectionReason.allCases.map(\.identifier)))
        #expect(
            Set(tables["Why a cookie stays behind"] ?? []) == Set(ExclusionReason.allCases.map(\.identifier)))
        #expect(
            Set(tables["Why a stored cookie has to go"] ?? []) == Set(EvictionReason.allCases.map(\.identifier)))
    }

    @Test("Identifiers are unique, and explanations are sentences' parts")
    func wellFormed() {
        #expect(Set(RejectionReason.allCases.map(\.identifier)).count == RejectionReason.allCases.count)
        #expect(Set(ExclusionReason.allCases.map(\.identifier)).count == ExclusionReason.allCases.count)
        #expect(Set(EvictionReason.allCases.map(\.identifier)).count == EvictionReason.allCases.count)
        let explanations =
            RejectionReason.allCases.map(\.explanation) + ExclusionReason.allCases.map(\.explanation)
            + EvictionReason.allCases.map(\.explanation)
        for text in explanations {
            #expect(text.count > 10 && !text.hasSuffix("."))
        }
    }
}
