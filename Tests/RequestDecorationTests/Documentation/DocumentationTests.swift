import CookieModel
import Foundation
import RequestDecoration
import Testing

@Suite("The guides with examples for any client, and the reasons")
struct DocumentationTests {
    private static func lines(_ name: String) throws -> [String] {
        try Documentation.text(name).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("Every example in the guides is code that the tests compile")
    func examples() throws {
        let sources = try [
            "Tests/RequestDecorationTests/Documentation/DocumentationExamples.swift",
            "Tests/URLSessionDecorationTests/SessionProgram.swift",
            "Tests/URLSessionDecorationTests/DocumentationExamples.swift",
            "Tests/AsyncHTTPClientDecorationTests/ClientProgram.swift",
            "Tests/AsyncHTTPClientDecorationTests/DocumentationExamples.swift",
            "Tests/SessionGatewayTests/Listening/GuideExamples.swift",
        ].map { try DocumentationTests.lines($0).joined(separator: "\n") }
        var block: [String]?
        var count = 0
        let guides = ["decorating", "cache", "login-fallback", "jars", "storing", "gateway"]
        for line in try guides.flatMap({ try DocumentationTests.lines("docs/\($0).md") }) {
            if line == "```swift" {
                block = []
            } else if line == "```", let text = block?.joined(separator: "\n") {
                #expect(sources.contains { $0.contains(text) }, "\(text)")
                count += 1
                block = nil
            } else if line != "@main" {
                // The tests have a beginning of their own.
                block?.append(line)
            }
        }
        #expect(count == 21)
    }

    /// The identifiers and remedies in the table under a heading of docs/reasons.md.
    private func table(_ heading: String) throws -> [String: String] {
        var rows: [String: String] = [:]
        var isInside = false
        for line in try DocumentationTests.lines("docs/reasons.md") {
            if line.hasPrefix("## ") { isInside = line == "## \(heading)" }
            guard isInside, line.hasPrefix("| "), !line.hasPrefix("| identifier"), !line.hasPrefix("| ---") else {
                continue
            }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            rows[cells[0]] = cells[cells.count - 1]
        }
        return rows
    }

    private func check<Reason: DecisionReason>(_ heading: String, _ reasons: Reason.Type) throws {
        let documented = try table(heading)
        let known = Dictionary(uniqueKeysWithValues: Reason.allCases.map { ($0.identifier, $0.remedy) })
        #expect(documented == known)
        for reason in Reason.allCases {
            #expect(reason.explanation.count > 10 && !reason.explanation.hasSuffix("."), "\(reason.identifier)")
        }
    }

    @Test("Every reason is documented with its remedy, and no other is")
    func reasons() throws {
        try check("Why a cookie is left out of a decorated request", CookieOmissionReason.self)
        try check("Why a header field is left out", FieldOmissionReason.self)
    }

    @Test("Every doubt and every code of redirects is in the guide")
    func identifiers() throws {
        let text = try DocumentationTests.lines("docs/decorating.md").joined(separator: "\n")
        let codes = [RedirectError.Code.locationInvalid, .tooMany, .loop, .bodyNotRepeatable].map(\.rawValue)
        for identifier in SetCookieDoubt.Kind.allCases.map(\.rawValue) + codes {
            #expect(text.contains("`\(identifier)`"), "\(identifier)")
        }
    }
}
