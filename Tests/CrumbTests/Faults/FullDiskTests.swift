import Foundation
import TestSupport
import Testing

@Suite("A full disk", .serialized, .enabled(if: Machine.canMount, "mounting a small file system needs root"))
struct FullDiskTests {
    private let home = CrumbHome()

    private func importing(_ capture: String, _ database: String) throws -> RunResult {
        try home.crumb("import", "--database", database, capture)
    }

    @Test("Where a database should be made is exit status 22, and room is all that it needs afterwards")
    func noDatabase() throws {
        let disk = try SmallDisk(kilobytes: 608)
        let capture = try home.write(Capture.har(cookies: 1, named: "a"), to: "har")
        for free in [0, 4, 8, 16] {
            try disk.fill(leaving: free)
            let result = try importing(capture, disk.file("crumb.sqlite"))
            #expect(result.status == 22, "\(free) KB free: \(result.messages)")
            #expect(result.messages.hasPrefix("crumb: \(disk.file("crumb.sqlite")): the disk is full"))
        }
        disk.empty()
        let result = try importing(capture, disk.file("crumb.sqlite"))
        #expect(result.status == 0, "\(result.messages)")
    }

    @Test("Where a key should be made is exit status 22, and leaves no half key")
    func noKey() throws {
        let disk = try SmallDisk(kilobytes: 64)
        try disk.fill()
        let capture = try home.write(Capture.har(cookies: 1, named: "a"), to: "har")
        let variables = ["CRUMB_KEY_FILE": disk.file("key")]
        let result = try home.crumb("import", capture, variables: variables)
        #expect(result.status == 22)
        #expect(result.messages.hasPrefix("crumb: \(disk.file("key")): "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["filler"])
        disk.empty()
        #expect(try home.crumb("import", capture, variables: variables).status == 0)
    }

    @Test("Where an export should be made is exit status 22, and leaves the file of before and nothing else")
    func export() throws {
        let disk = try SmallDisk(kilobytes: 64)
        let capture = try home.write(Capture.har(cookies: 100, named: "a", size: 1000), to: "har")
        #expect(try home.crumb("import", capture).status == 0)
        let file = disk.file("cookies.txt")
        try Data("before".utf8).write(to: URL(filePath: file))
        let result = try home.crumb("export", "--format", "netscape", "--force", "--output", file)
        #expect(
            result.status == 22 && result.messages.hasPrefix("crumb: \(file): the disk is full"), "\(result.messages)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["cookies.txt"])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "before")
    }

    @Test("In the middle of an import is exit status 22; nothing of it is stored, nothing from before is lost")
    func whileImporting() throws {
        let disk = try SmallDisk(kilobytes: 656)
        let database = disk.file("crumb.sqlite")
        let before = try home.write(Capture.har(cookies: 5, named: "before"), to: "before.har")
        #expect(try importing(before, database).status == 0)
        let large = try home.write(Capture.har(cookies: 150, named: "large", size: 3900), to: "large.har")
        for _ in 0..<2 {
            let result = try importing(large, database)
            #expect(result.status == 22, "\(result.messages)")
            #expect(result.messages.hasPrefix("crumb: \(database): the disk is full") && result.output.isEmpty)
        }
        let list = try home.crumb("list", "--database", database, "--json").objects()
        #expect(list.compactMap { $0["name"] as? String } == (0..<5).map { "before\($0)" })
        #expect(try home.shell("sqlite3 \(database) 'PRAGMA integrity_check'").text == "ok\n")
    }

    @Test("With any amount of room left, an import is stored whole or is exit status 22")
    func everyAmount() throws {
        let disk = try SmallDisk(kilobytes: 608)
        let database = disk.file("crumb.sqlite")
        let first = try home.write(Capture.har(cookies: 5, named: "c0-"), to: "first.har")
        #expect(try importing(first, database).status == 0)
        var stored = 5
        for free in stride(from: 0, through: 120, by: 12) {
            try disk.fill(leaving: free)
            let capture = try home.write(Capture.har(cookies: 3, named: "c\(free + 1)-"), to: "next.har")
            let result = try importing(capture, database)
            #expect([0, 22].contains(result.status), "\(free) KB free: \(result.messages)")
            if result.status == 0 { stored += 3 }
            let header = try home.crumb("header", "--database", database, "https://many.example/")
            #expect([0, 22].contains(header.status), "\(free) KB free: \(header.messages)")
            disk.empty()
            #expect(try home.crumb("list", "--database", database, "--json").objects().count == stored)
        }
    }

    @Test("A service on it is not ready, logs why, and is ready again once there is room")
    func service() throws {
        let disk = try SmallDisk(kilobytes: 2048)
        let service = try home.start(["serve", "--database", disk.file("crumb.sqlite"), "--socket", home.file("s")])
        let result = Result { try ask(on: disk) }
        service.kill()
        let log = service.wait().messages
        try result.get()
        // Once for each ten seconds, however many requests there are.
        #expect((1...4).contains(log.components(separatedBy: #""code":"disk-full""#).count - 1), "\(log)")
    }

    private func ask(on disk: SmallDisk) throws {
        func ask(_ arguments: String) throws -> String {
            try home.shell("curl -s -w ' %{http_code}' --unix-socket '\(home.file("s"))' http://crumb\(arguments)").text
        }
        for _ in 0..<600 {
            if try ask("/readyz").hasSuffix(" 200") { break }
            usleep(50_000)
        }
        #expect(try ask("/readyz") == "ready\n 200")
        for _ in 0..<3 {
            try disk.fill()
            // Nothing has to be written for it to be noticed.
            let full = try ask("/readyz")
            #expect(full.hasSuffix(" 503") && full.contains(#""code":"disk-full""#), "\(full)")
            disk.empty()
            #expect(try ask("/readyz") == "ready\n 200")
        }
    }

    @Test("A disk that cannot be written is a clear error for a new database and for an old one")
    func readOnly() throws {
        let disk = try SmallDisk(kilobytes: 608)
        let capture = try home.write(Capture.har(cookies: 1, named: "a"), to: "har")
        #expect(try importing(capture, disk.file("old")).status == 0)
        let before = FileManager.default.contents(atPath: disk.file("old"))
        try #require(disk.protect())
        // Another one: what was imported before needs no writing.
        let further = try home.write(Capture.har(cookies: 1, named: "b"), to: "further.har")
        for name in ["old", "new"] {
            let result = try importing(further, disk.file(name))
            #expect([23, 24].contains(result.status), "\(result.messages)")
            #expect(result.messages.hasPrefix("crumb: \(disk.file(name)): "))
        }
        #expect(FileManager.default.contents(atPath: disk.file("old")) == before)
    }
}
