import Foundation
import Testing

@Suite("The threat model")
struct ThreatModelTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    /// The rows of the table of claims: what is claimed, and the tests that are named.
    private static func claims(_ page: String) throws -> [(claim: String, tests: String)] {
        let text = try String(contentsOf: package.appending(path: "docs/\(page)"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Security properties\n").last)
        let rows = (section.components(separatedBy: "\n## ").first ?? "").split(separator: "\n")
            .filter { $0.hasPrefix("|") }.dropFirst(2)
        return rows.map { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return (cells.first ?? "", cells.count == 2 ? cells[1] : "")
        }
    }

    /// The text of all tests in a folder, by file.
    private static func sources(_ folder: String, _ ending: String) throws -> [String] {
        let root = package.appending(path: "Tests/\(folder)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        return try names.filter { $0.hasSuffix(ending) }.map {
            try String(contentsOf: root.appending(path: $0), encoding: .utf8)
        }
    }

    @Test(
        "Every claim names a test, and every test that is named is there",
        arguments: [("threat-model.md", "SessionServiceTests", 20), ("gateway.md", "SessionGatewayTests", 10)])
    func complete(page: String, folderOfPage: String, least: Int) throws {
        let claims = try Self.claims(page)
        #expect(claims.count > least)
        let faults = try Self.sources("ServiceFaults", ".py").joined(separator: "\n")
        for (claim, tests) in claims {
            var isTested = false
            var folder = folderOfPage
            var suite = ""
            for part in tests.split(separator: ";", omittingEmptySubsequences: true) {
                if let named = part.firstMatch(
                    of:
                        /(SessionStoreTests|ServiceFaults|WebPrimitivesTests|HTTPMessagesTests|CrumbTests|RequestDecorationTests|HTTPCachingTests|ResponseStoreTests)/
                ) {
                    folder = String(named.output.1)
                }
                let sources = try Self.sources(folder, ".swift")
                for name in part.matches(of: /`([^`]+)`/).map({ String($0.output.1) }) {
                    isTested = true
                    if folder == "ServiceFaults" {
                        #expect(faults.contains("def \(name.replacing("-", with: "_"))("), "\(claim): \(name)")
                        continue
                    }
                    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
                    if let first = parts.first, !first.isEmpty { suite = first }
                    #expect(sources.contains { $0.contains("struct \(suite) {") }, "\(claim): there is no \(suite)")
                    guard parts.count > 1 else { continue }
                    let isThere = sources.contains { source in
                        ["struct", "extension"].contains { source.contains("\($0) \(suite) {") }
                            && source.contains("func \(parts[1])(")
                    }
                    #expect(isThere, "\(claim): there is no \(suite).\(parts[1])")
                }
                folder = folderOfPage
            }
            #expect(isTested, "\(claim): no test")
        }
    }
}
