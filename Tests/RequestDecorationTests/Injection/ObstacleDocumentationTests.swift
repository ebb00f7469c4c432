import Foundation
import RequestDecoration
import Testing

@Suite("Obstacles in docs/reasons.md")
struct ObstacleDocumentationTests {
    /// The identifiers in the table under a heading.
    private func identifiers(_ heading: String) throws -> [String] {
        let sections = try Documentation.text("docs/reasons.md").components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("\(heading)\n") })
        return section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
            .compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
            .filter { $0 != "identifier" }
    }

    @Test("Every obstacle is documented once, and no other is")
    func complete() throws {
        let script = try identifiers("What a script cannot set")
        #expect(script.sorted() == InjectionScript.Obstacle.allCases.map(\.rawValue).sorted())
        let native = try identifiers("What a web view's store cannot hold")
        #expect(native.sorted() == NativeCookie.Obstacle.allCases.map(\.rawValue).sorted())
    }
}
