import CookieModel
import Foundation
import Testing

@testable import SessionStore

@Suite("Key files")
struct KeyFileTests {
    private let folder = TemporaryFolder()

    /// Whether both are the same key, without looking at either.
    private func areEqual(_ left: SealingKey, _ right: SealingKey) throws -> Bool {
        let sealed = try Sealer(left, id: 1).seal([1, 2, 3], at: [])
        return Sealer(right, id: 1).open(.init(sealed), at: []) == [1, 2, 3]
    }

    /// The only key of a file.
    private func load(_ path: String, mayCreate: Bool) throws -> SealingKey {
        let keys = try KeyFile(path).load(mayCreate: mayCreate)
        #expect(keys.count == 1)
        return try #require(keys.last)
    }

    @Test("A key file is created on first use, readable only by its owner, and found again")
    func made() throws {
        let key = try load(folder.file("a/b/key"), mayCreate: true)
        #expect(try folder.mode("a/b/key") == 0o600)
        #expect(try folder.mode("a") == 0o700 && folder.mode("a/b") == 0o700)
        #expect(try areEqual(key, load(folder.file("a/b/key"), mayCreate: false)))
        #expect(try areEqual(key, load(folder.file("a/b/key"), mayCreate: true)))
        #expect(try folder.contents().keys.sorted() == ["a/b/key"])
    }

    @Test("Twenty processes that create a key file at once get the same key")
    func race() throws {
        let path = folder.file("key")
        let keys = try onThreads(20) { _ in try KeyFile(path).load(mayCreate: true) }.flatMap { $0 }
        #expect(keys.count == 20)
        let first = try #require(keys.first)
        for key in keys { #expect(try areEqual(first, key)) }
        #expect(try folder.contents().keys.sorted() == ["key"])
    }

    @Test("Every new key is different")
    func different() throws {
        let left = try load(folder.file("left"), mayCreate: true)
        let right = try load(folder.file("right"), mayCreate: true)
        #expect(try !areEqual(left, right))
        #expect(try !areEqual(SealingKey(), SealingKey()))
    }

    @Test(
        "A key file that others can access is rejected", arguments: [0o640, 0o604, 0o644, 0o620, 0o602, 0o610, 0o666])
    func exposed(mode: Int) throws {
        _ = try load(folder.file("key"), mayCreate: true)
        try folder.write(try folder.bytes("key"), to: "key", mode: mode)
        #expect(errorCode { try load(folder.file("key"), mayCreate: false) } == .keyExposed)
        #expect(errorCode { try load(folder.file("key"), mayCreate: true) } == .keyExposed)
        #expect(try folder.mode("key") == mode)
    }

    @Test("A key file may be write-protected")
    func readOnly() throws {
        _ = try load(folder.file("key"), mayCreate: true)
        try folder.write(try folder.bytes("key"), to: "key", mode: 0o400)
        #expect(throws: Never.self) { try load(folder.file("key"), mayCreate: false) }
    }

    @Test(
        "A file that is not a key file is rejected and not changed",
        arguments: [
            "", "\n", "crumb-key-1:", "crumb-key-1:AAAA\n", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
            "crumb-key-2:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", "crumb-key-1:\u{0}",
            "crumb-key-1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= replaced \n",
            "crumb-key-1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= replaced yesterday\n",
            "crumb-key-1:" + String(repeating: "A", count: 5000), "-----BEGIN PRIVATE KEY-----\n",
        ])
    func noKey(text: String) throws {
        try folder.write(text.utf8, to: "key")
        #expect(errorCode { try load(folder.file("key"), mayCreate: true) } == .keyUnavailable)
        #expect(try folder.bytes("key") == Array(text.utf8))
    }

    @Test("White space around a key in its file does not matter")
    func whiteSpace() throws {
        let key = try load(folder.file("key"), mayCreate: true)
        try folder.write(Array("\n  ".utf8) + folder.bytes("key") + Array(" \r\n".utf8), to: "key")
        #expect(try areEqual(key, load(folder.file("key"), mayCreate: false)))
    }

    @Test("A missing key file is created only if that is allowed")
    func missing() throws {
        #expect(errorCode { try load(folder.file("a/key"), mayCreate: false) } == .keyMissing)
        #expect(try folder.contents().isEmpty)
    }

    @Test("A folder at the key file's path, and a file in place of its folder, make the key unavailable")
    func inTheWay() throws {
        try FileManager.default.createDirectory(atPath: folder.file("key"), withIntermediateDirectories: false)
        #expect(errorCode { try load(folder.file("key"), mayCreate: true) } == .keyUnavailable)
        try folder.write([], to: "file")
        #expect(errorCode { try load(folder.file("file/key"), mayCreate: true) } == .keyUnavailable)
    }

    @Test("A key file is created on request, and never replaces another file")
    func created() throws {
        try KeyFile(folder.file("a/key")).create()
        let bytes = try folder.bytes("a/key")
        #expect(try folder.mode("a/key") == 0o600 && folder.mode("a") == 0o700)
        #expect(errorCode { try KeyFile(folder.file("a/key")).create() } == .fileExists)
        #expect(try folder.bytes("a/key") == bytes)
    }

    @Test("No error shows the content of a key file")
    func silent() throws {
        let secret = "crumb-key-1:c2VjcmV0"
        try folder.write(secret.utf8, to: "key")
        let error = #expect(throws: SessionStoreError.self) {
            try load(folder.file("key"), mayCreate: true)
        }
        #expect(error?.description.contains("c2VjcmV0") == false)
        #expect(error.map { String(reflecting: $0).contains("c2VjcmV0") } == false)
    }
}
