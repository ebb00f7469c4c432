import CookieModel
import Foundation
import Platform
import TestSupport
import Testing

@testable import SessionStore

@Suite("Files that are no database of ours")
struct ForeignFileTests {
    private let folder = TemporaryFolder()

    private func refusal(_ name: String) -> SessionStoreError.Code? {
        errorCode { try SessionDatabase(path: folder.file(name), keys: .file(folder.file("key")), now: Given.now) }
    }

    private static let magic = Array("SQLite format 3\0".utf8)

    @Test(
        "Foreign files are rejected and not changed, and no key is created for them",
        arguments: [
            Array("hello\n".utf8), [0], [UInt8](repeating: 0, count: 4096), Array("{\"log\": {}}".utf8),
            Array(String(repeating: "text ", count: 4000).utf8), magic, magic + [UInt8](repeating: 0, count: 83),
            magic + [UInt8](repeating: 0, count: 84), magic + [UInt8](repeating: 0xFF, count: 8000),
        ])
    func foreign(bytes: [UInt8]) throws {
        try folder.write(bytes, to: "file", mode: 0o644)
        #expect(refusal("file") == .databaseForeign)
        #expect(try folder.contents() == ["file": bytes])
        #expect(try folder.mode("file") == 0o644)
    }

    @Test("A file of random bytes is rejected and not changed", arguments: 0..<20)
    func random(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let bytes = (0..<Int.random(in: 1...9000, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        try folder.write(bytes, to: "file")
        #expect(refusal("file") == .databaseForeign)
        #expect(try folder.contents() == ["file": bytes])
    }

    @Test(
        "Another program's SQLite database is rejected and not changed",
        arguments: [0, 1, 0x4372_6D61, 0xFFFF_FFFF] as [UInt32])
    func otherProgram(applicationID: UInt32) throws {
        try Given.jar(folder.file("file")).receive("a=1")
        var bytes = try folder.bytes("file")
        withUnsafeBytes(of: applicationID.bigEndian) { bytes.replaceSubrange(68..<72, with: $0) }
        try folder.write(bytes, to: "file")
        #expect(refusal("file") == .databaseForeign)
        #expect(try folder.contents() == ["file": bytes])
    }

    @Test("An empty file becomes a database")
    func empty() throws {
        try folder.write([], to: "file")
        try Given.jar(folder.file("file")).receive("a=1")
        #expect(try Given.jar(folder.file("file")).header() == "a=1")
    }

    @Test("The error for a folder at the path says that it is a folder")
    func directory() throws {
        try FileManager.default.createDirectory(atPath: folder.file("file"), withIntermediateDirectories: false)
        #expect(refusal("file") == .databaseUnavailable)
        #expect(refusal("file/") == .databaseUnavailable)
        #expect(try folder.contents().isEmpty)
    }

    @Test("A pipe at the path is rejected at once, without waiting")
    func pipe() throws {
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(refusal("pipe") == .databaseUnavailable)
    }

    @Test("A device at the path is rejected, and no file is created beside it")
    func device() throws {
        #expect(
            errorCode { try SessionDatabase(path: "/dev/null", keys: .file(folder.file("key")), now: Given.now) }
                == .databaseUnavailable)
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-journal"))
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-wal"))
    }

    @Test("A file where a folder is expected is named in the error")
    func fileAsFolder() throws {
        try folder.write([1], to: "file")
        #expect(refusal("file/crumb.sqlite") == .databaseUnavailable)
    }

    @Test("A dangling link does not create a file")
    func danglingLink() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.file("target"))
        #expect(refusal("link") == .databaseUnavailable)
        #expect(!FileManager.default.fileExists(atPath: folder.file("target")))
    }

    @Test("A link to a database is that database")
    func link() throws {
        try Given.jar(folder.file("target")).receive("a=1")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.file("target"))
        #expect(try Given.jar(folder.file("link")).header() == "a=1")
    }

    @Test("The error for a foreign file names the file")
    func named() throws {
        try folder.write([1], to: "some file")
        let error = #expect(throws: SessionStoreError.self) { try Given.database(folder.file("some file")) }
        #expect(error?.subject == folder.file("some file"))
        #expect(error?.description.hasPrefix(folder.file("some file") + ": ") == true)
    }
}
