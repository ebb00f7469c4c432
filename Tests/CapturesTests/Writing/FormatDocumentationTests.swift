import Foundation
import TestSupport
import Testing

@testable import Captures

@Suite("docs/formats.md")
struct FormatDocumentationTests {
    private static let file = Repository.root.appending(path: "docs/formats.md")

    @Test("The table of formats is the one that losses are computed from")
    func table() throws {
        let text = try String(contentsOf: FormatDocumentationTests.file, encoding: .utf8)
        let names = Set(ExportFormat.allCases.map(\.rawValue))
        let rows = text.split(separator: "\n").filter { line in
            let cells = line.split(separator: "|")
            return cells.count == 11
                && names.contains(cells[0].trimmingCharacters(in: CharacterSet(charactersIn: " `")))
        }
        #expect(rows.map(String.init) == ExportFormat.allCases.map(row))
    }

    @Test("The page explains every obstacle to an export")
    func obstacles() throws {
        let text = try String(contentsOf: FormatDocumentationTests.file, encoding: .utf8)
        for obstacle in ExportObstacle.allCases { #expect(text.contains("| `\(obstacle.rawValue)` |"), "\(obstacle)") }
    }

    private func row(_ format: ExportFormat) -> String {
        let capabilities = format.capabilities
        func mark(_ feature: CookieFeature) -> String { capabilities.holds(feature) ? "yes" : "–" }
        let expiry =
            switch capabilities.expiry {
            case .none: "–"
            case .seconds: "seconds"
            case .microseconds: "microseconds"
            case .exact: "exact"
            }
        let partition =
            switch capabilities.partitions {
            case .all: "yes"
            case .ownSite: "own site"
            case .ownSiteUnmarked: "own site, unmarked"
            }
        let octets =
            switch capabilities.octets {
            case .any: "any"
            case .columns: "no tab, no line end"
            case .setCookie: "Set-Cookie"
            case .browser: "Set-Cookie, no tab"
            case .header: "Cookie"
            }
        #expect(mark(.creation) == mark(.lastAccess))
        #expect(mark(.domain) == mark(.path) && mark(.path) == mark(.secure))
        let cells = [
            "`\(format.rawValue)`", mark(.domain), mark(.hostOnly), mark(.httpOnly), mark(.sameSite), expiry, partition,
            mark(.creation), octets, capabilities.needsText ? "needed" : "–", capabilities.holdsNameless ? "yes" : "–",
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}
