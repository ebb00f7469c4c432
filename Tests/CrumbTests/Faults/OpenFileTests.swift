import Foundation
import Platform
import TestSupport
import Testing

@Suite("A database whose files change while a process has it open")
struct OpenFileTests {
    /// Starts an import that has the database open, does something to it, lets the import end, and tells how.
    private func importing(
        _ lines: [String], in home: CrumbHome, prefix: [String] = [], meanwhile accident: () throws -> Void
    ) throws -> RunResult {
        let pipe = home.file("pipe-\(UUID().uuidString)")
        try #require(mkfifo(pipe, 0o600) == 0)
        if !prefix.isEmpty { chmod(pipe, 0o644) }
        let process = try home.start(["import", pipe], prefix: prefix)
        let writer = open(pipe, O_WRONLY)
        // The database was opened before the pipe: an import asks for its jar first.
        try accident()
        let bytes = Array(Capture.har([Capture.entry("https://www.example.com/", lines)]).utf8)
        #expect(write(writer, bytes, bytes.count) == bytes.count)
        close(writer)
        return process.wait()
    }

    @Test("A database that is deleted meanwhile is an error: nothing is said to be stored that is not")
    func deleted() throws {
        let home = CrumbHome()
        try home.receive("a=1; Path=/")
        let result = try importing(["b=2; Path=/"], in: home) {
            try FileManager.default.removeItem(atPath: home.file("crumb.sqlite"))
        }
        #expect(result.status == 23 && result.output.isEmpty)
        #expect(
            result.messages.hasPrefix(
                "crumb: \(home.file("crumb.sqlite")): the file or its write-ahead log was deleted"))
        try home.receive("c=3; Path=/")
        #expect(try home.header() == "Cookie: c=3")
    }

    @Test("A database replaced by a backup while it is open is an error, and the backup stays unchanged")
    func replaced() throws {
        let home = CrumbHome()
        try home.receive("a=1; Path=/")
        try FileManager.default.copyItem(atPath: home.file("crumb.sqlite"), toPath: home.file("backup"))
        let backup = home.bytes("backup")
        try home.receive("later=1; Path=/")
        let result = try importing(["b=2; Path=/"], in: home) {
            try #require(rename(home.file("backup"), home.file("crumb.sqlite")) == 0)
        }
        #expect(result.status == 23, "\(result.messages)")
        #expect(home.bytes("crumb.sqlite") == backup)
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test(
        "Permissions that are taken away meanwhile harm no process that is at work, and are a clear error for the next",
        .enabled(if: Machine.unprivileged != nil, "root cannot become another user here"),
        arguments: [0o000, 0o400])
    func permissions(mode: Int) throws {
        let prefix = try #require(Machine.unprivileged)
        let home = CrumbHome(mode: 0o777)
        let dump = try home.write(Capture.dump(["a=1; Path=/"]), to: "dump", mode: 0o644)
        let other = try home.write(Capture.dump(["c=3; Path=/"]), to: "other", mode: 0o644)
        let arguments = ["import", "--url", "https://www.example.com/"]
        #expect(try home.start(arguments + [dump], prefix: prefix).wait().status == 0)
        let database = home.file("crumb.sqlite")
        let result = try importing(["b=2; Path=/"], in: home, prefix: prefix) { chmod(database, mode_t(mode)) }
        #expect(result.status == 0, "\(result.messages)")
        let before = home.bytes("crumb.sqlite")
        let refused = try home.start(arguments + [other], prefix: prefix).wait()
        #expect([23, 24].contains(refused.status), "\(refused.messages)")
        #expect(refused.messages.hasPrefix("crumb: \(database): ") && refused.output.isEmpty)
        #expect(home.bytes("crumb.sqlite") == before)
        chmod(database, 0o600)
        let header = try home.start(["header", "https://www.example.com/"], prefix: prefix).wait()
        #expect(header.text == "Cookie: a=1; b=2\n", "\(header.messages)")
    }

    @Test("A log that is deleted meanwhile is an error, and data stored before is kept")
    func logDeleted() throws {
        let home = CrumbHome()
        try home.receive("a=1; Path=/")
        let result = try importing(["b=2; Path=/"], in: home) {
            try FileManager.default.removeItem(atPath: home.file("crumb.sqlite-wal"))
        }
        #expect(result.status == 23, "\(result.messages)")
        #expect(try home.header() == "Cookie: a=1")
    }
}
