import CookieModel
import Foundation
import Testing

@testable import SessionStore

@Suite("Backups")
struct BackupTests {
    private let folder = TemporaryFolder()

    private func database(_ name: String = "crumb.sqlite") throws -> SessionDatabase {
        try SessionDatabase(path: folder.file(name), keys: .file(folder.file("key")), now: Given.now)
    }

    @Test("A backup is one sealed file, 0600, that opens as the database did")
    func made() throws {
        let database = try database()
        try FullDatabase.fill(database)
        try FileManager.default.createDirectory(atPath: folder.file("new"), withIntermediateDirectories: false)
        let size = try database.backUp(to: folder.file("new/backup.sqlite"))
        #expect(try folder.bytes("new/backup.sqlite").count == Int(size))
        #expect(try folder.mode("new/backup.sqlite") == 0o600)
        #expect(try folder.contents().keys.filter { $0.hasPrefix("new") }.sorted() == ["new/backup.sqlite"])
        let copy = try self.database("new/backup.sqlite")
        #expect(try FullDatabase.values(copy) == FullDatabase.values(database))
        #expect(try copy.check().findings.isEmpty)
        #expect(errorCode { try Given.database(folder.file("new/backup.sqlite")) } == .keyWrong)
    }

    @Test("A backup replaces an existing file only on request")
    func existing() throws {
        let database = try database()
        try database.jar(now: Given.now).receive("a=1; Path=/")
        try folder.write([1, 2, 3], to: "backup", mode: 0o644)
        #expect(errorCode { try database.backUp(to: folder.file("backup")) } == .fileExists)
        #expect(try folder.bytes("backup") == [1, 2, 3])
        try database.backUp(to: folder.file("backup"), replacing: true)
        #expect(try folder.mode("backup") == 0o600)
        #expect(try self.database("backup").jar(now: Given.now).header() == "a=1")
    }

    @Test(
        "A backup replaces neither the database nor its key",
        arguments: ["crumb.sqlite", "crumb.sqlite-wal", "key", "link"])
    func own(name: String) throws {
        let database = try database()
        try database.jar(now: Given.now).receive("a=1; Path=/")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.file("crumb.sqlite"))
        let before = try folder.contents()
        #expect(errorCode { try database.backUp(to: folder.file(name), replacing: true) } == .fileExists)
        #expect(try folder.contents() == before)
        #expect(try database.jar(now: Given.now).header() == "a=1")
    }

    @Test("A backup to a folder, a pipe or a missing folder is a clear error and leaves no file")
    func refused() throws {
        let database = try database()
        try folder.write([], to: "file")
        try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
        let before = try folder.contents().keys.sorted()
        for (name, part) in [
            ("folder", "this is a folder"), ("file/backup", "cannot be written: "),
            ("none/backup", "the folder \(folder.file("none")) does not exist"),
        ] {
            #expect {
                try database.backUp(to: folder.file(name), replacing: true)
            } throws: { error in
                (error as? SessionStoreError)?.code == .fileNotWritten && "\(error)".contains(part)
            }
        }
        #expect(errorCode { try database.backUp(to: "/dev/null", replacing: true) } == .fileNotWritten)
        #expect(try folder.contents().keys.sorted() == before)
    }

    @Test("A backup during writes contains whole transactions, and blocks no writer")
    func besideWriters() throws {
        let database = try database()
        _ = try database.jar(now: Given.now)
        let results = try onThreads(3) { index in
            let own = try self.database()
            let jar = try own.jar(now: Given.now)
            guard index == 0 else {
                for number in 0..<80 {
                    // Two cookies that belong together.
                    try jar.receive(
                        "a=\(number); Path=/", "b=\(number); Path=/", from: "https://h\(index)-\(number).example/")
                }
                return true
            }
            for round in 0..<15 {
                try own.backUp(to: folder.file("backup\(round)"))
                let copy = try self.database("backup\(round)")
                let cookies = try copy.jar(now: Given.now).cookies()
                let hosts = Dictionary(grouping: cookies.readable) { $0.domain }
                guard cookies.unreadable.isEmpty, hosts.values.allSatisfy({ $0.count == 2 }) else { return false }
            }
            return true
        }
        #expect(results == [true, true, true])
        #expect(try database.jar(now: Given.now).cookies().readable.count == 320)
    }

    @Test("A backup from before a rotation needs the former key, which stays until it is forgotten")
    func beforeRotation() throws {
        let database = try database()
        try database.jar(now: Given.now).receive("a=1; Path=/")
        try database.backUp(to: folder.file("backup"))
        for _ in 0..<2 { _ = try database.rotateKey(now: Given.now) }
        #expect(try self.database("backup").jar(now: Given.now).header() == "a=1")
        let file = KeyFile(folder.file("key"))
        try file.forget(try file.formerKeys())
        #expect(errorCode { try self.database("backup") } == .keyWrong)
    }
}
