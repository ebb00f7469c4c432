import Foundation
import Testing

@testable import WebPrimitives

/// The vectors of web-platform-tests, in the folder `Vectors` beside this file.
enum HostVectors {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")

    static func rows<Row: Decodable>(_ name: String, as type: Row.Type) throws -> [Row] {
        try JSONDecoder().decode([Row].self, from: Data(contentsOf: folder.appending(path: name)))
    }
}

@Suite("The vectors of web-platform-tests")
struct VectorTests {
    @Test(
        "Every host has the A-label form that the URL Standard's tests give it",
        arguments: [
            ("toascii.json", 87), ("IdnaTestV2.json", 2691),
        ])
    func domainToASCII(name: String, count: Int) throws {
        let rows = try HostVectors.rows(name, as: [String?].self)
        #expect(rows.count == count)
        for row in rows {
            let input = try #require(row.first ?? nil)
            // The empty string is what these tests expect of an empty domain, which is no host.
            let expected = row.last.flatMap(\.self).flatMap { $0.isEmpty ? nil : $0 }
            let host = WebHost(input)
            #expect(host?.description == expected, "\(input.debugDescription)")
        }
    }

    /// The `*` that both browsers refuse in Bidi domains, as docs/hosts.md says.
    private static let differences = ["\u{0642}*\u{05D6}"]

    @Test("Every host has the form that browsers give it, and where they differ that of the URL Standard")
    func browsers() throws {
        let rows = try HostVectors.rows("browsers.json", as: [String?].self)
        #expect(rows.count == 2641)
        var differences: [String] = []
        for row in rows {
            let input = try #require(row[0])
            #expect(WebHost(input)?.description == row[1], "\(input.debugDescription)")
            if row.count == 4, row[2] == row[3] { differences.append(input) }
        }
        #expect(Set(differences) == Set(VectorTests.differences))
    }

    private struct URLRow: Decodable {
        let input: String
        let base: String?
        let expected: [String]?

        init(from decoder: any Decoder) throws {
            var row = try decoder.unkeyedContainer()
            input = try row.decode(String.self)
            base = try row.decodeIfPresent(String.self)
            expected = try row.decodeIfPresent([String].self)
        }
    }

    @Test("Every URL has the scheme, host, port, path and query that the URL Standard's tests give it")
    func urls() throws {
        let rows = try HostVectors.rows("urltestdata.json", as: URLRow.self)
        #expect(rows.count == 892)
        for row in rows {
            // A base of another scheme than ours cannot be had: then the input has to stand alone.
            let base = row.base.flatMap { try? RequestURL($0) }
            let url = try? base?.resolving(Octets(row.input)) ?? RequestURL(row.input)
            let parts = url.map { url in
                let port = url.port == url.scheme.defaultPort ? "" : String(url.port)
                return [url.scheme.name, "\(url.host)", port, "\(url.path)", url.query == "?" ? "" : "\(url.query)"]
            }
            #expect(parts == row.expected, "\(row.input.debugDescription) at \(row.base.debugDescription)")
        }
    }
}
