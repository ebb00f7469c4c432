import CookieModel
import Foundation
import Testing

@Suite("The documentation of hosts")
struct HostDocumentationTests {
    /// The rows of all tables of docs/hosts.md that have `header` as their first line, cell by cell.
    private static func rows(under header: String) throws -> [[String]] {
        let text = try Documentation.text("docs/hosts.md")
        var rows: [[String]] = []
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                isInTable = false
                continue
            }
            if isInTable, !line.hasPrefix("| ---") {
                let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                rows.append(cells.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) })
            }
            isInTable = isInTable || line == header
        }
        return rows
    }

    @Test("Every host has the canonical form that the page says")
    func canonicalForms() throws {
        let rows = try HostDocumentationTests.rows(under: "| written | canonical |")
        #expect(rows.count == 27)
        for row in rows {
            #expect(WebHost(row[0])?.description == (row[1] == "no host" ? nil : row[1]), "\(row[0])")
        }
    }

    @Test("Every cookie goes where the page says, and not elsewhere")
    func cookies() throws {
        let rows = try HostDocumentationTests.rows(under: "| set at | `Domain` | sent to | not sent to |")
        #expect(rows.count == 15)
        for row in rows {
            var session = Session()
            try session.set("a=1" + Octets(row[1].isEmpty ? "" : "; Domain=\(row[1])"), at: "http://\(row[0])/")
            if !row[2].isEmpty { #expect(try session.sent(to: "http://\(row[2])/") == "a=1", "\(row)") }
            #expect(try session.sent(to: "http://\(row[3])/").isEmpty, "\(row)")
        }
    }

    @Test("Hosts count as this machine as the page documents")
    func loopback() throws {
        let rows = try HostDocumentationTests.rows(under: "| http to | accepts `Secure` |")
        #expect(rows.count == 13)
        for row in rows {
            var session = Session()
            let outcome = try session.set("a=1; Secure", at: "http://\(row[0])/")
            #expect(outcome == (row[1] == "yes" ? "stored" : "rejected: secure-from-insecure"), "\(row[0])")
        }
    }
}
