import Foundation
import TestSupport
import Testing

@Suite("Databases that cannot be used, through the command")
struct DatabaseFileTests {
    private let home = CrumbHome()

    private static let reading = [
        ["header", "https://www.example.com/"], ["script", "https://www.example.com/"], ["list"], ["status"],
        ["explain", "https://www.example.com/"], ["token", "list"], ["token", "get", "name"],
        ["token", "remove", "name"], ["prune"], ["check"], ["backup", "/nowhere/copy"], ["key", "rotate"],
        ["key", "status"],
    ]

    /// Runs a reading command and an import on a database, and expects that status and that the file is named.
    private func expect(
        _ status: Int32, database: String, prefix: [String] = [], home: CrumbHome,
        commands: [[String]] = DatabaseFileTests.reading
    ) throws {
        let capture = try home.write(Capture.har([]), to: "empty.har", mode: 0o644)
        for command in commands + [["import", capture]] {
            let result = try home.start(
                command, prefix: prefix, variables: ["CRUMB_DATABASE": database]
            ).wait()
            #expect(result.status == status, "\(command): \(result.messages)")
            #expect(result.output.isEmpty)
            #expect(result.messages.hasPrefix("crumb: \(database): "), "\(command): \(result.messages)")
        }
    }

    @Test("A file that is not a database is rejected untouched by every command")
    func foreign() throws {
        for (index, bytes) in [Array("text\n".utf8), [UInt8](repeating: 7, count: 9000)].enumerated() {
            let path = try home.write(bytes, to: "foreign\(index)")
            try expect(20, database: path, home: home)
            #expect(home.bytes("foreign\(index)") == bytes)
        }
        #expect(!FileManager.default.fileExists(atPath: home.file("key")))
    }

    @Test("An empty file is no database for commands that read, and stays empty")
    func empty() throws {
        let path = try home.write("", to: "empty")
        for command in [["list"], ["header", "https://www.example.com/"], ["status"], ["token", "list"], ["check"]] {
            let result = try home.start(command, variables: ["CRUMB_DATABASE": path]).wait()
            #expect(result.status == 17, "\(command): \(result.messages)")
            #expect(result.messages.hasPrefix("crumb: \(path): the file is empty"), "\(command): \(result.messages)")
            #expect(home.bytes("empty").isEmpty)
        }
        let capture = try home.write(Capture.har(cookies: 1, named: "c"), to: "capture.har")
        let result = try home.start(["import", capture], variables: ["CRUMB_DATABASE": path]).wait()
        #expect(result.status == 0 && !home.bytes("empty").isEmpty, "\(result.messages)")
    }

    @Test("A database of a newer version is refused untouched by every command")
    func newer() throws {
        try home.receive("a=1")
        let made = try home.shell("sqlite3 crumb.sqlite \"INSERT INTO grdb_migrations VALUES ('V999')\"")
        try #require(made.status == 0, "sqlite3 is needed: \(made.messages)")
        let before = home.bytes("crumb.sqlite")
        try expect(21, database: home.file("crumb.sqlite"), home: home)
        #expect(home.bytes("crumb.sqlite") == before)
    }

    @Test("A database of a pre-release is refused untouched by every command")
    func prerelease() throws {
        try home.receive("a=1")
        let made = try home.shell("sqlite3 crumb.sqlite \"UPDATE grdb_migrations SET identifier = 'V019'\"")
        try #require(made.status == 0, "sqlite3 is needed: \(made.messages)")
        let before = home.bytes("crumb.sqlite")
        try expect(95, database: home.file("crumb.sqlite"), home: home)
        #expect(home.bytes("crumb.sqlite") == before)
    }

    @Test("A folder in the database's place is refused")
    func folder() throws {
        try expect(23, database: home.path, home: home)
    }

    @Test(
        "A database that may not be read is refused",
        .enabled(if: Machine.unprivileged != nil, "root cannot become another user here"))
    func unreadable() throws {
        let home = CrumbHome(mode: 0o777)
        let path = try home.write([], to: "crumb.sqlite", mode: 0o000)
        try expect(23, database: path, prefix: try #require(Machine.unprivileged), home: home)
    }

    @Test(
        "A database in a folder that may not be entered is refused, not taken for an empty one",
        .enabled(if: Machine.unprivileged != nil, "root cannot become another user here"))
    func hidden() throws {
        let home = CrumbHome(mode: 0o777)
        try FileManager.default.createDirectory(atPath: home.file("private"), withIntermediateDirectories: false)
        try home.write([], to: "private/crumb.sqlite")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: home.file("private"))
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home.file("private"))
        }
        try expect(
            23, database: home.file("private/crumb.sqlite"), prefix: try #require(Machine.unprivileged), home: home)
    }

    @Test(
        "A folder that may not be written is refused for a new database, and for one in it",
        .enabled(if: Machine.unprivileged != nil, "root cannot become another user here"))
    func readOnlyFolder() throws {
        let prefix = try #require(Machine.unprivileged)
        let home = CrumbHome(mode: 0o777)
        let capture = try home.write(
            Capture.har([Capture.entry("https://www.example.com/", ["a=1"])]), to: "har", mode: 0o644)
        let folder = home.file("folder")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(try home.crumb("import", "--database", "\(folder)/old", capture).status == 0)
        let before = home.bytes("folder/old")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder)/old")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home.file("key"))
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder) }
        let made = try home.crumb("import", "--database", "\(folder)/new", capture, prefix: prefix)
        #expect(made.status == 23 && made.messages.hasPrefix("crumb: \(folder)/new: "))
        let deeper = try home.crumb("import", "--database", "\(folder)/a/b/new", capture, prefix: prefix)
        #expect(
            deeper.status == 23
                && deeper.messages.contains("no folder can be created in \(folder): Permission denied"),
            "\(deeper.messages)")
        let written = try home.crumb("import", "--database", "\(folder)/old", capture, prefix: prefix)
        #expect([23, 24].contains(written.status) && written.messages.hasPrefix("crumb: \(folder)/old: "))
        #expect(home.bytes("folder/old") == before)
    }

    @Test("Reading where nothing was ever stored makes no file")
    func nothingYet() throws {
        for command in DatabaseFileTests.reading {
            let result = try home.start(command).wait()
            #expect(!result.messages.contains("cannot"), "\(result.messages)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(!files.contains("crumb.sqlite") && !files.contains("key"))
    }

    @Test("A database that the user named and that does not exist is exit status 17 for readers")
    func named() throws {
        let missing = home.file("missing.sqlite")
        // It also shows the state of a key without a database.
        let reading = DatabaseFileTests.reading.filter { $0 != ["key", "status"] }
        let others = [["export", "--format", "netscape"], ["changes"], ["jars", "list"], ["remove", "a"]]
        func message(_ source: String) -> String {
            "crumb: \(missing): no such database. Correct \(source), or create it with 'crumb import'.\n"
        }
        for command in reading + others {
            let option = try home.start(command + ["--database", missing]).wait()
            #expect(option.status == 17 && option.output.isEmpty, "\(command)")
            #expect(option.messages == message("--database"), "\(command)")
            let variable = try home.start(command, variables: ["CRUMB_DATABASE": missing]).wait()
            #expect(variable.status == 17 && variable.messages == message("CRUMB_DATABASE"), "\(command)")
        }
        #expect(!FileManager.default.fileExists(atPath: missing))
        let set = try home.crumb("set", "--database", missing, "https://www.example.com/", input: "a=1; Path=/")
        #expect(set.status == 0, "\(set.messages)")
        #expect(try home.crumb("list", "--database", missing).status == 0)
    }

    @Test("'crumb session save' creates the database that the user named")
    func savedSession() throws {
        let new = home.file("new.sqlite")
        #expect(try home.crumb("session", "save", "before", "--database", new).status == 0)
        #expect(try home.crumb("session", "list", "--database", new).text.contains("before"))
    }

    @Test("Only the owner can access new files, whatever the umask")
    func modes() throws {
        let capture = try home.write(Capture.har([Capture.entry("https://www.example.com/", ["a=1"])]), to: "har")
        let result = try home.shell(
            "umask 0; unset CRUMB_DATABASE CRUMB_KEY_FILE; XDG_DATA_HOME=$HOME/d XDG_CONFIG_HOME=$HOME/c crumb import \(capture)"
        )
        #expect(result.status == 0, "\(result.messages)")
        for folder in ["d", "d/crumb", "c", "c/crumb"] { #expect(try home.mode(folder) == 0o700) }
        for file in ["d/crumb/crumb.sqlite", "c/crumb/key"] { #expect(try home.mode(file) == 0o600) }
    }
}
