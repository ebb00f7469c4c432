import CookieModel
import Foundation
import Platform
import Testing

@testable import SessionStore

@Suite("File modes", .serialized)
struct FileModeTests {
    private let folder = TemporaryFolder()

    @Test("Only the owner can access database, log, index and key with any umask", arguments: [0o000, 0o022, 0o077])
    func modes(mask: UInt32) throws {
        let previous = umask(mode_t(mask))
        defer { _ = umask(previous) }
        let database = try SessionDatabase(
            path: folder.file("data/deep/crumb.sqlite"), keys: .file(folder.file("config/deep/key")), now: Given.now)
        try database.jar(now: Given.now).receive("a=1")
        for name in ["data", "data/deep", "config", "config/deep"] { #expect(try folder.mode(name) == 0o700) }
        let files = try folder.contents().keys.sorted()
        #expect(
            files == [
                "config/deep/key", "data/deep/crumb.sqlite", "data/deep/crumb.sqlite-shm",
                "data/deep/crumb.sqlite-wal",
            ])
        for name in files { #expect(try folder.mode(name) == 0o600, "\(name)") }
    }

    @Test("Existing folders keep their modes")
    func existingFolder() throws {
        try FileManager.default.createDirectory(
            atPath: folder.file("open"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        _ = try Given.database(folder.file("open/crumb.sqlite"))
        #expect(try folder.mode("open") == 0o755)
    }

    @Test("An empty file that others can read becomes a database that they cannot", arguments: [0o644, 0o666, 0o600])
    func emptyFile(mode: Int) throws {
        try folder.write([], to: "crumb.sqlite", mode: mode)
        let database = try Given.database(folder.file("crumb.sqlite"))
        try database.jar(now: Given.now).receive("a=1")
        for name in try folder.contents().keys { #expect(try folder.mode(name) == 0o600, "\(name)") }
    }

    @Test(
        "A path without a folder, and one with odd letters, are files like any other",
        arguments: ["a b'c", "ü?x=1", "file:x", "-wal"])
    func oddNames(name: String) throws {
        try Given.jar(folder.file(name)).receive("a=1")
        #expect(try Given.jar(folder.file(name)).header() == "a=1")
        #expect(try folder.contents().keys.contains(name))
    }
}
