import Foundation
import TestSupport
import Testing

@Suite("crumb restore")
struct RestoreCommandTests {
    private let home = CrumbHome()

    /// A database with `a=1`, its backup, and a cookie that came afterwards.
    private func prepare() throws -> String {
        try home.receive("a=1; Path=/")
        let backup = home.file("backup.sqlite")
        #expect(try home.crumb("backup", backup).status == 0)
        try home.receive("b=2; Path=/")
        return backup
    }

    @Test(
        "`restore` undoes changes since a backup, replaces a database only with --force, and leaves the backup unchanged"
    )
    func inverse() throws {
        let backup = try prepare()
        let bytes = home.bytes("backup.sqlite")
        let refused = try home.crumb("restore", backup)
        #expect(refused.status == 28 && refused.messages.contains("use --force"), "\(refused.messages)")
        #expect(try home.header() == "Cookie: a=1; b=2")
        let restored = try home.crumb("restore", "--force", backup)
        #expect(restored.status == 0, "\(restored.messages)")
        #expect(restored.text == "\(home.file("crumb.sqlite")): replaced with \(backup): 1 jar, 1 sealed value\n")
        #expect(try home.header() == "Cookie: a=1")
        #expect(home.bytes("backup.sqlite") == bytes)
        #expect(try home.mode("crumb.sqlite") == 0o600)
        #expect(try home.crumb("check").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(!names.contains { $0.hasSuffix(".new") || $0.contains(".new-") }, "\(names)")
    }

    @Test("Without a database, none has to be replaced")
    func empty() throws {
        let backup = try prepare()
        let other = home.file("folder/other.sqlite")
        let result = try home.crumb("restore", "--json", "--database", other, backup)
        let report = try #require(try result.objects().first)
        #expect(report["replaced"] as? Bool == false && report["sealedValues"] as? Int == 1)
        #expect(try home.crumb("header", "--database", other, "https://www.example.com/").text == "Cookie: a=1\n")
    }

    @Test("The write-ahead log of the old database does not ruin the new one")
    func oldLog() throws {
        let backup = try prepare()
        // A process that was killed leaves its log behind: here with bytes that fit no database.
        for end in ["-wal", "-shm", "-journal"] { try home.write("left behind", to: "crumb.sqlite\(end)") }
        #expect(try home.crumb("restore", "--force", backup).status == 0)
        for end in ["-wal", "-shm", "-journal"] {
            #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite\(end)")))
        }
        #expect(try home.header() == "Cookie: a=1")
        #expect(try home.crumb("check").status == 0)
    }

    @Test("A damaged database is replaced")
    func damaged() throws {
        let backup = try prepare()
        try home.write(home.bytes("crumb.sqlite").prefix(100) + [UInt8](repeating: 7, count: 5000), to: "crumb.sqlite")
        #expect(try home.crumb("list").status == 26)
        #expect(try home.crumb("restore", "--force", backup).status == 0)
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("A file that is not a Crumb database is never replaced, the key least of all", arguments: [false, true])
    func otherFile(isLink: Bool) throws {
        let backup = try prepare()
        #expect(try home.shell("sqlite3 foreign.db 'CREATE TABLE t (a)'").status == 0)
        try home.write("precious", to: "notes.txt")
        for name in ["key", "foreign.db", "notes.txt"] {
            let before = home.bytes(name)
            #expect(!before.isEmpty, "\(name)")
            if isLink { #expect(try home.shell("ln -s \(name) link-\(name)").status == 0) }
            let place = home.file(isLink ? "link-\(name)" : name)
            let result = try home.crumb("restore", "--force", "--database", place, backup)
            #expect(result.status == 20 && result.messages.contains("not a Crumb database"), "\(result.messages)")
            #expect(home.bytes(name) == before, "\(name)")
        }
        #expect(try home.shell("mkfifo pipe").status == 0)
        #expect(try home.crumb("restore", "--force", home.file("pipe")).status == 20)
    }

    @Test("While a service has the database open, nothing is replaced")
    func busy() throws {
        let service = try RunningService(.socket)
        let set = try service.home.crumb("set", "https://www.example.com/", input: "a=1; Path=/\n")
        #expect(set.status == 0, "\(set.messages)")
        let backup = service.home.file("backup.sqlite")
        #expect(try service.home.crumb("backup", backup).status == 0)
        let refused = try service.home.crumb("restore", "--force", backup)
        #expect(refused.status == 25 && refused.messages.contains("another process has the database open"))
        let asked = try service.ask(["header", "https://www.example.com/"])
        #expect(asked.text == "Cookie: a=1\n", "\(asked.messages)")
    }

    @Test("A file that is not a sound backup under this key changes nothing")
    func refused() throws {
        let backup = try prepare()
        let before = try home.header()
        #expect(try home.crumb("restore", "--force", home.file("missing")).status == 17)
        #expect(try home.crumb("restore", "--force", home.path).status == 20)
        #expect(try home.crumb("restore", "--force", try home.write("text", to: "text")).status == 20)
        #expect(try home.crumb("restore", "--force", home.file("crumb.sqlite")).status == 28)
        let other = CrumbHome()
        try other.receive("c=3; Path=/")
        #expect(try other.crumb("backup", home.file("foreign.sqlite")).status == 0)
        let key = try home.crumb("restore", "--force", home.file("foreign.sqlite"))
        #expect(
            key.status == 31 && key.messages.contains("foreign.sqlite") && !key.messages.contains(".new"),
            "\(key.messages)")
        let change = "sqlite3 backup.sqlite \"UPDATE cookie SET value = x'00'\""
        #expect(try home.shell(change).status == 0)
        let damaged = try home.crumb("restore", "--force", backup)
        #expect(
            damaged.status == 26 && damaged.messages.contains("cookie 'a' of www.example.com/"), "\(damaged.messages)")
        try home.write(home.bytes("foreign.sqlite").prefix(6000), to: "cut.sqlite")
        let cut = try home.crumb("restore", "--force", home.file("cut.sqlite"))
        #expect(cut.status == 26, "\(cut.status) \(cut.messages)")
        #expect(!cut.messages.contains("restore it from a backup"), "\(cut.messages)")
        #expect(try home.header() == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(!names.contains { $0.contains(".new") }, "\(names)")
    }

    @Test("A restore that is killed leaves the old database or the new one")
    func killed() throws {
        let backup = try prepare()
        var moments = KillMoments()
        for _ in 0..<10 {
            let process = try home.start(["restore", "--force", backup])
            moments.wait(atMost: 40_000)
            process.kill()
            _ = process.wait()
            let header = try home.header()
            #expect(["Cookie: a=1", "Cookie: a=1; b=2"].contains(header), "\(header); \(moments)")
            #expect(try home.crumb("check").status == 0, "\(moments)")
            try home.receive("b=2; Path=/")
        }
    }
}
