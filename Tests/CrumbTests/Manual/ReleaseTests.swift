import Foundation
import TestSupport
import Testing

@testable import CrumbCommands
@testable import SQLiteEngine

@Suite("What a release consists of")
struct ReleaseTests {
    private func text(_ name: String) throws -> String {
        try #require(DocumentationTests.text(name))
    }

    @Test("The version is semantic, and the newest one of the changelog")
    func version() throws {
        #expect(Crumb.version.wholeMatch(of: #/\d+\.\d+\.\d+(-beta\.\d+)?/#) != nil)
        let heading = try text("CHANGELOG.md").split(separator: "\n").first { $0.hasPrefix("## ") }
        #expect(heading == "## \(Crumb.version)")
    }

    @Test("The page on compatibility names the schemas")
    func schemas() throws {
        let page = try text("docs/compatibility.md")
        for (folder, prefix) in [("Migrations", "V"), ("Migrations/postgresql", "P")] {
            let files = try FileManager.default.contentsOfDirectory(
                atPath: Repository.root.appending(path: folder).path)
            let newest = try #require(files.filter { $0.hasPrefix(prefix) }.max()?.prefix(4))
            #expect(page.contains("`\(newest)`"))
        }
        #expect(page.contains("`\(SchemaMigrations.newest)`"))
    }

    @Test("The Swift Package Index documents every library, whose declarations are compared with the last version's")
    func products() throws {
        let products = try text("Package.swift")
            .matches(of: #/\.library\(\s*name: "\w+", targets: \[([^\]]*)\]/#)
            .flatMap { $0.1.matches(of: #/\w+/#) }.map { String($0.0) }
        let documented = try text(".spi.yml").matches(of: #/\n +- (\w+)(?=\n)/#).map { String($0.1) }
        #expect(Set(documented) == Set(products) && documented.count == Set(products).count)
        let compared = try text("Scripts/api-check.txt").matches(of: #/\nmodule (\w+)\n/#).map { String($0.1) }
        #expect(Set(compared).isSuperset(of: products))
    }
}
