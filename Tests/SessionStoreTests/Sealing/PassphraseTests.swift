import Foundation
import OAuth2
import Synchronization
import Testing

@testable import SessionStore

@Suite("Keys that a passphrase locks")
struct PassphraseTests {
    private let folder = TemporaryFolder()

    /// A key file with a cost that tests can bear.
    private func file(_ passphrase: String?, _ name: String = "key") -> KeyFile {
        KeyFile(folder.file(name), passphrase: passphrase.map { .passphrase(Secret($0)) }, cost: 10)
    }

    private func header(_ passphrase: String?) throws -> String {
        let database = try SessionDatabase(
            path: folder.file("crumb.sqlite"), keys: .file(file(passphrase)), now: Given.now)
        return try database.jar(now: Given.now).header()
    }

    private func makeDatabase(_ passphrase: String?) throws {
        let database = try SessionDatabase(
            path: folder.file("crumb.sqlite"), keys: .file(file(passphrase)), now: Given.now)
        try database.jar(now: Given.now).receive("a=1; Path=/")
    }

    private func text() throws -> String { String(decoding: try folder.bytes("key"), as: UTF8.self) }

    /// RFC 7914, section 12; the fourth vector needs a gigabyte, and the first has an empty passphrase.
    @Test(
        "scrypt gives the results of RFC 7914",
        arguments: [
            ("password", "NaCl", 10, 8, 16, "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"),
            (
                "pleaseletmein", "SodiumChloride", 14, 8, 1,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
            ),
        ])
    func vectors(passphrase: String, salt: String, cost: Int, blockSize: Int, parallelism: Int, key: String) {
        let derived = ScryptParameters.derive(
            Array(passphrase.utf8), salt: Array(salt.utf8), cost: cost, blockSize: blockSize, parallelism: parallelism,
            count: 64)
        let text = derived?.prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(text == key)
    }

    @Test("A new key file with a passphrase is locked, has mode 0600, and does not contain the key in the clear")
    func made() throws {
        try makeDatabase("correct horse")
        #expect(try folder.mode("key") == 0o600)
        #expect(try text().hasPrefix("crumb-scrypt-1:10,8,1,") && text().split(separator: "\n").count == 1)
        let key = try #require(try file("correct horse").load(mayCreate: false).last).exposedBytes
        let line = try #require(try KeyFile(folder.file("key")).lines()?.first)
        guard case .locked(_, let sealedKey) = line.key else {
            Issue.record("not locked")
            return
        }
        #expect(Data(sealedKey).firstRange(of: Data(key)) == nil)
        #expect(try header("correct horse") == "a=1")
    }

    @Test("New key files have the intended cost for guessing the passphrase")
    func defaultCost() {
        #expect(KeyFile("key").cost == 17 && ScryptParameters().cost == 17)
        #expect(ScryptParameters().salt != ScryptParameters().salt && ScryptParameters().salt.count == 16)
    }

    @Test("A wrong and a missing passphrase are clear errors, and change nothing")
    func wrong() throws {
        try makeDatabase("correct horse")
        let before = try folder.contents()
        #expect(errorCode { try header("battery staple") } == .keyWrong)
        #expect(errorCode { try header(nil) } == .keyLocked)
        let nobody = PassphraseSource(name: "nobody") { () throws(SessionStoreError) in nil }
        #expect(errorCode { try KeyFile(folder.file("key"), passphrase: nobody).load(mayCreate: false) } == .keyLocked)
        #expect(try folder.contents() == before)
        #expect(try header("correct horse") == "a=1")
    }

    @Test("No error shows a passphrase")
    func silent() throws {
        try makeDatabase("correct horse")
        let error = #expect(throws: SessionStoreError.self) { try header("battery staple") }
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["battery", "correct"] {
            #expect(error?.description.contains(text) == false && !dumped.contains(text))
        }
    }

    @Test("Every changed part of a key file's line is detected")
    func changed() throws {
        try makeDatabase("p")
        let whole = try text()
        let parts = whole.dropFirst("crumb-scrypt-1:".count).dropLast().components(separatedBy: ",")
        for (index, other) in ["11", "9", "2", "AAAAAAAAAAAAAAAAAAAAAA=="].enumerated() {
            var changed = parts
            changed[index] = other
            try folder.write("crumb-scrypt-1:\(changed.joined(separator: ","))\n".utf8, to: "key")
            #expect(errorCode { try header("p") } == .keyWrong, "\(other)")
        }
        for bad in ["30,8,1", "20,32,1", "9,8,1", "-1,8,1", "x,8,1", "10,0,1", "10,8,0", "10,8"] {
            try folder.write("crumb-scrypt-1:\(bad),\(parts[3]),\(parts[4])\n".utf8, to: "key")
            #expect(errorCode { try header("p") } == .keyUnavailable, "\(bad)")
        }
        try folder.write(whole.utf8, to: "key")
        #expect(try header("p") == "a=1")
    }

    @Test("A passphrase can be added, changed and removed, and no database changes")
    func changing() throws {
        try makeDatabase(nil)
        let before = try folder.bytes("crumb.sqlite")
        try file(nil).changePassphrase(to: Secret("one"))
        #expect(try KeyFile(folder.file("key")).state() == KeyFile.State(keyCount: 1, isLocked: true))
        #expect(try header("one") == "a=1")
        #expect(errorCode { try file("two").changePassphrase(to: Secret("three")) } == .keyWrong)
        try file("one").changePassphrase(to: Secret("two"))
        #expect(errorCode { try header("one") } == .keyWrong)
        #expect(try header("two") == "a=1")
        try file("two").changePassphrase(to: nil)
        #expect(try text().hasPrefix("crumb-key-1:") && folder.mode("key") == 0o600)
        #expect(try header(nil) == "a=1" && header("stray") == "a=1")
        #expect(try folder.bytes("crumb.sqlite") == before)
        #expect(try folder.contents().keys.sorted() == ["crumb.sqlite", "key"])
    }

    @Test("A passphrase locks former keys too: all of them share one lock, and keep their times")
    func formerKeys() throws {
        try makeDatabase(nil)
        try file(nil).addKey(now: Given.now)
        try file(nil).addKey(now: Given.now.advanced(bySeconds: 60))
        let times = [Given.now, Given.now.advanced(bySeconds: 60)]
        for (old, new) in [(nil, "one"), ("one", "two"), ("two", nil)] {
            try file(old).changePassphrase(to: new.map { Secret($0) })
            #expect(try KeyFile(folder.file("key")).state() == KeyFile.State(keyCount: 3, isLocked: new != nil))
            #expect(try Set(KeyFile(folder.file("key")).lines()?.map(\.lockParameters) ?? []).count == 1)
            #expect(try file(new).formerKeys().map(\.replaced) == times)
            #expect(try header(new) == "a=1")
        }
        try file(nil).changePassphrase(to: Secret("one"))
        try file("one").addKey(now: Given.now)
        #expect(try Set(KeyFile(folder.file("key")).lines()?.map(\.lockParameters) ?? []).count == 1)
        #expect(try header("one") == "a=1" && text().hasSuffix("\n") && !text().contains("crumb-key-1"))
    }

    @Test("The user is asked for a passphrase once, and only if one is needed")
    func asked() throws {
        let count = Mutex(0)
        let source = PassphraseSource(name: "a window", locksNewFiles: false) { () throws(SessionStoreError) in
            count.withLock { $0 += 1 }
            return Secret("one")
        }
        let plain = KeyFile(folder.file("key"), passphrase: source, cost: 10)
        _ = try plain.load(mayCreate: true)
        #expect(count.withLock { $0 } == 0)
        try plain.changePassphrase(to: Secret("one"))
        let locked = KeyFile(folder.file("key"), passphrase: source, cost: 10)
        for _ in 0..<3 { _ = try locked.load(mayCreate: false) }
        #expect(count.withLock { $0 } == 1)
    }

    @Test("A passphrase file has the passphrase in its first line, and no other user may read it")
    func fromFile() throws {
        for (text, expected) in [
            ("pass word\nrest", "pass word"), ("p", "p"), ("p\r\n", "p"), (" \u{E9} \n", " \u{E9} "),
        ] {
            try folder.write(text.utf8, to: "passphrase")
            #expect(try PassphraseSource.file(folder.file("passphrase")).load()?.exposedText == expected)
        }
        for text in ["", "\n", "\np", String(repeating: "p", count: 1025)] {
            try folder.write(text.utf8, to: "passphrase")
            #expect(errorCode { try PassphraseSource.file(folder.file("passphrase")).load() } == .keyUnavailable)
        }
        try folder.write("p\n".utf8, to: "passphrase", mode: 0o644)
        #expect(errorCode { try PassphraseSource.file(folder.file("passphrase")).load() } == .keyExposed)
        #expect(errorCode { try PassphraseSource.file(folder.file("none")).load() } == .keyUnavailable)
    }
}
