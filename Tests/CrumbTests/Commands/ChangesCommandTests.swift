import Foundation
import TestSupport
import Testing

@Suite("crumb changes")
struct ChangesCommandTests {
    private let home = CrumbHome()

    private func importing(_ lines: [String]) throws {
        let dump = try home.write(Capture.dump(lines), to: "dump-\(lines.count)-\(lines[0].count)")
        #expect(try home.crumb("import", "--again", "--url", "https://www.example.com/", dump).status == 0)
    }

    @Test("Shows each change with its position, cause and cookie, and goes on where a reader ended")
    func journal() throws {
        #expect(try home.crumb("changes").messages.contains("no changes in jar 'default'"))
        try importing(["a=s3cr3t; Path=/", "b=s3cr3t; Path=/x; Domain=example.com"])
        try importing(["a=; Path=/; Max-Age=0"])
        let rows = try home.crumb("changes").text.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(rows.count == 4 && rows[0].first == "POSITION")
        #expect(rows.dropFirst().map { $0[2] } == ["stored", "stored", "deleted"])
        #expect(rows[2].suffix(3) == ["b", "of", ".example.com/x"])
        let objects = try home.crumb("changes", "--json", "--after", "2").objects()
        #expect(objects.count == 1 && objects[0]["cause"] as? String == "deleted")
        #expect((objects[0]["position"] as? Int, objects[0]["name"] as? String) == (3, "a"))
        let end = try home.crumb("changes", "--after", "3")
        #expect(end.status == 0 && end.text.isEmpty && end.messages.contains("no changes after position 3"))
        #expect(try home.crumb("changes", "--after", "99").messages.contains("are gone"))
        #expect(try !home.crumb("changes", "--json").text.contains("s3cr3t"))
    }

    @Test("If the changes were pruned, the message says that and nothing else")
    func pruned() throws {
        try importing(["a=1; Path=/", "b=1; Path=/"])
        #expect(try home.crumb("prune", "--journal-entries", "0").status == 0)
        let whole = try home.crumb("changes").messages
        #expect(whole == "the journal of jar 'default' is empty: its changes were pruned\n", "\(whole)")
        let rest = try home.crumb("changes", "--after", "1").messages
        #expect(rest.contains("changes after position 1 are gone") && !rest.contains("no changes"), "\(rest)")
    }
}
