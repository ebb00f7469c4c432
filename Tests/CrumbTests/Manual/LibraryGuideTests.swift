import Foundation
import TestSupport
import Testing

@Suite("docs/libraries.md")
struct LibraryGuideTests {
    private struct Row {
        let product: String
        let imports: [String]
        let trait: String
        let packages: String
    }

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
    }

    /// The words in backquotes.
    private static func names(_ cell: Substring) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The rows of the table.
    private static func rows() throws -> [Row] {
        try text("docs/libraries.md").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map { line in
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ")
            try #require(cells.count == 6, "\(line)")
            return Row(
                product: try #require(names(cells[2]).first), imports: names(cells[3]),
                trait: names(cells[4]).first ?? "none", packages: String(cells[5]))
        }
    }

    /// The targets of each library product of the package.
    private static func products() throws -> [String: [String]] {
        let declarations = try text("Package.swift").matches(
            of: /\.library\(\s*name: "(\w+)", targets: \[([^\]]*)\]/)
        return Dictionary(
            uniqueKeysWithValues: declarations.map { match in
                (String(match.1), match.2.matches(of: /\w+/).map { String($0.output) })
            })
    }

    @Test("The table has each product, with modules that it contains or re-exports the types of")
    func table() throws {
        let (rows, products) = (try Self.rows(), try Self.products())
        #expect(Set(rows.map(\.product)) == Set(products.keys))
        let modules = Set(products.values.joined())
        for row in rows {
            #expect(products[row.product]?.contains(row.imports[0]) == true, "\(row)")
            #expect(modules.isSuperset(of: row.imports), "\(row)")
        }
    }

    @Test("The traits are those of the package, and each resolves one number of packages")
    func traits() throws {
        let rows = try Self.rows()
        let manifest = try Self.text("Package.swift")
        for trait in Set(rows.map(\.trait)) where trait != "none" {
            #expect(manifest.contains(".trait(name: \"\(trait)\""), "\(trait)")
        }
        #expect(Set(rows.map { [$0.trait, $0.packages] }).count == Set(rows.map(\.trait)).count)
    }

    @Test("The snippet of each trait has its products")
    func snippets() throws {
        let rows = try Self.rows()
        let blocks = try Self.text("docs/libraries.md").components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        var found: [String: Set<String>] = [:]
        var trait = ""
        for block in blocks {
            if let match = block.wholeMatch(
                of: /\.package\(name: "crumb", path: "\.\.\/crumb", traits: \[(?:"(\w+)")?\]\)\n/)
            {
                trait = match.1.map(String.init) ?? "none"
            } else {
                let lines = block.split(separator: "\n")
                let products = lines.compactMap {
                    $0.wholeMatch(of: /\.product\(name: "(\w+)", package: "crumb"\),/).map { String($0.1) }
                }
                #expect(products.count == lines.count, "\(block)")
                found[trait] = Set(products)
            }
        }
        #expect(found == Dictionary(grouping: rows, by: \.trait).mapValues { Set($0.map(\.product)) })
    }
}
