import Foundation
import TestSupport
import Testing

@Suite("The guide to tokens")
struct LoginDocumentationTests {
    private static func lines(_ name: String) throws -> [String] {
        try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("Every program in the guide is code that the tests compile")
    func examples() throws {
        let source = try LoginDocumentationTests.lines("Tests/URLSessionDecorationTests/LoginExamples.swift")
            .joined(separator: "\n")
        var block: [String]?
        var count = 0
        for line in try LoginDocumentationTests.lines("docs/tokens.md") {
            if line == "```swift" {
                block = []
            } else if line == "```", let text = block?.joined(separator: "\n") {
                #expect(source.contains(text), "\(text)")
                count += 1
                block = nil
            } else if line != "@main" {
                // The tests have a beginning of their own.
                block?.append(line)
            }
        }
        #expect(count == 3)
    }
}
