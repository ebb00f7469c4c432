import Foundation
import OAuth2
import SessionOperations
import TestSupport
import Testing

@testable import CrumbCommands

@Suite("The table of failures")
struct FailureTests {
    @Test("The page on exit statuses matches the table exactly")
    func exitStatuses() throws {
        let text = try #require(DocumentationTests.text("docs/exit-statuses.md"))
        let rows = text.split(separator: "\n").filter { $0.wholeMatch(of: #/\| \d+ \| .*/#) != nil }.map(String.init)
        let usage = "| 64 | usage | the command line is wrong |"
        let expected = FailureKind.exitStatuses.map { failure in
            "| \(failure.exitStatus) | \(failure.code) | \(failure.row.meaning) |"
        }
        #expect(Set(rows) == Set(expected + [usage]))
        #expect(rows.count == expected.count + 1)
        let shared = text.split(separator: "\n").filter { $0.wholeMatch(of: #/\| [a-z-]+ \| \d+ \| .*/#) != nil }
        let others = FailureKind.allCases.filter { !$0.row.meaning.isEmpty && !FailureKind.exitStatuses.contains($0) }
        #expect(
            Set(shared.map(String.init))
                == Set(others.map { "| \($0.code) | \($0.exitStatus) | \($0.row.meaning) |" }))
    }

    @Test("Each failure of the guide to the API has the status that the table gives it")
    func answers() throws {
        let text = try #require(DocumentationTests.text("docs/service.md"))
        var documented: Set<FailureKind> = []
        for match in text.matches(of: #/\| ([a-z, -]+) \| (\d{3}) \| /#) {
            for code in match.1.split(separator: ", ") {
                guard let failure = FailureKind(rawValue: String(code)) else { continue }
                #expect(failure.row.httpStatus == Int(match.2), "\(code)")
                documented.insert(failure)
            }
        }
        #expect(documented.count > 50)
    }

    /// The files that declare the codes of errors which are told as they are.
    private static let declarations = [
        "Sources/StoreEngine/SessionStoreError.swift", "Sources/SessionStore/Tokens/TokenRenewal.swift",
        "Sources/RequestDecoration/LoginFallback/LoginFallbackError.swift",
        "Sources/Captures/Items/CaptureError.swift",
    ]

    @Test("Every code of a library is in the table", arguments: declarations)
    func codes(path: String) throws {
        let text = try #require(DocumentationTests.text(path))
        var count = 0
        // A notice is no failure.
        for match in text.matches(
            of: #/(?:/// (.*)\n)? +(?:public|package) static let \w+ = Code\((?:rawValue: )?"([a-z-]+)"\)/#)
        where match.1.map({ String($0) })?.hasSuffix("A notice.") != true {
            #expect(FailureKind(rawValue: String(match.2)) != nil, "\(match.2)")
            count += 1
        }
        #expect(count > 3)
    }

    @Test("A code that nothing declares is an internal error, and not one of the database")
    func unknown() {
        #expect(FailureKind(code: "never-heard-of") == .internalError)
        #expect(FailureKind.internalError.exitStatus == 59 && FailureKind.internalError.row.httpStatus == 500)
    }

    @Test("A code means one thing: no two failures share it, and each has a row")
    func distinct() {
        #expect(Set(FailureKind.allCases.map(\.code)).count == FailureKind.allCases.count)
        #expect(Set(FailureKind.exitStatuses.map(\.exitStatus)).count == FailureKind.exitStatuses.count)
        for failure in FailureKind.allCases {
            #expect(FailureKind.exitStatuses.contains { $0.exitStatus == failure.exitStatus }, "\(failure.code)")
        }
    }
}
