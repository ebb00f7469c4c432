import CookieModel
import Foundation
import OAuth2
import Testing

@testable import SessionStore

@Suite("Rotating the key")
struct KeyRotationTests {
    private let folder = TemporaryFolder()

    private func open(_ name: String = "crumb.sqlite", passphrase: String? = nil) throws -> SessionDatabase {
        let file = KeyFile(
            folder.file("key"), passphrase: passphrase.map { .passphrase(Secret($0)) }, cost: 10)
        return try SessionDatabase(path: folder.file(name), keys: .file(file), now: Given.now)
    }

    private func keyCount() throws -> Int? { try KeyFile(folder.file("key")).state()?.keyCount }

    @Test("After a key rotation, everything can be read, and no value needs the former key", arguments: [1, 7, 500])
    func rotated(batchSize: Int) throws {
        let database = try open()
        try FullDatabase.fill(database)
        let (values, oldKey) = (try FullDatabase.values(database), try folder.bytes("key"))
        #expect(values.count == 132)
        let rotation = try database.rotateKey(batchSize: batchSize, now: Given.now)
        #expect(rotation.resealed == 132 && rotation.unreadable.isEmpty)
        #expect(rotation.began == .newest && rotation.isLogEmpty)
        #expect(try FullDatabase.values(database) == values)
        #expect(try FullDatabase.values(open()) == values)
        #expect(try FullDatabase.count(database, under: 1) == 0)
        #expect(try database.number("SELECT count(*) FROM sealing_key") == 1)
        #expect(try keyCount() == 2 && folder.mode("key") == 0o600 && database.keyUse() == .newest)
        #expect(try database.needed(database.formerKeys()).isEmpty)
        #expect(try folder.contents().keys.sorted() == ["crumb.sqlite", "crumb.sqlite-shm", "crumb.sqlite-wal", "key"])
        try folder.write(oldKey, to: "key")
        #expect(errorCode { try open() } == .keyWrong)
    }

    @Test("Keys can be rotated repeatedly, and no ID is reused")
    func again() throws {
        let database = try open()
        try FullDatabase.fill(database, cookies: 3)
        let values = try FullDatabase.values(database)
        for round in 2...4 {
            #expect(try database.rotateKey(now: Given.now).resealed == values.count)
            #expect(try database.number("SELECT max(id) FROM sealing_key") == Int64(round))
        }
        #expect(try FullDatabase.values(open()) == values)
    }

    @Test("The key of an empty database can be rotated, too")
    func empty() throws {
        #expect(try open().rotateKey(now: Given.now).resealed == 0)
        try open().jar(now: Given.now).receive("a=1; Path=/")
        #expect(try open().jar(now: Given.now).header() == "a=1")
    }

    @Test("After a key rotation, a process with the database open continues to read and write, under the new key")
    func openElsewhere() throws {
        let rotating = try open()
        try FullDatabase.fill(rotating)
        let (reader, writer) = (try open(), try open())
        let values = try FullDatabase.values(rotating)
        _ = try rotating.rotateKey(now: Given.now)
        #expect(try FullDatabase.values(reader) == values)
        try writer.jar(now: Given.now).receive("new=1; Path=/", from: "https://new.example/")
        #expect(try FullDatabase.count(rotating, under: 1) == 0)
        for database in [rotating, reader, writer, try open()] {
            #expect(try database.jar(now: Given.now).header("https://new.example/") == "new=1")
        }
    }

    @Test("Continuous key rotations lose nothing of continuous writes")
    func busy() throws {
        let database = try open()
        try FullDatabase.fill(database, cookies: 10)
        let results = try onThreads(4) { index in
            let own = try open()
            if index == 0 {
                for _ in 0..<6 { _ = try own.rotateKey(batchSize: 5, now: Given.now) }
                return true
            }
            let jar = try own.jar(named: "writer \(index)", now: Given.now)
            for number in 0..<60 {
                try jar.receive("n\(number)=\(index); Path=/")
                guard try jar.header().contains("n\(number)=\(index)") else { return false }
            }
            return true
        }
        #expect(results == [true, true, true, true])
        let after = try open()
        for index in 1...3 {
            let cookies = try after.jar(named: "writer \(index)", now: Given.now).cookies()
            #expect(cookies.readable.count == 60 && cookies.unreadable.isEmpty)
        }
        #expect(try FullDatabase.values(after).count == 52 + 180)
        #expect(try after.check().findings.isEmpty)
    }

    @Test("A key source without the new key is a clear error, for reading and for writing")
    func keyNotThere() throws {
        let (old, new) = (try Given.key(1), try Given.key(2))
        let path = folder.file("crumb.sqlite")
        let left = try SessionDatabase(path: path, keys: .key(old), now: Given.now)
        let jar = try left.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        let both = try SessionDatabase(path: path, keys: .keys([old, new]), now: Given.now)
        #expect(try both.rotateKey(now: Given.now).resealed == 1)
        #expect(errorCode { try jar.header() } == .keyChanged)
        #expect(errorCode { try jar.receive("b=2; Path=/") } == .keyChanged)
        #expect(errorCode { try SessionDatabase(path: path, keys: .key(old), now: Given.now) } == .keyWrong)
        let right = try SessionDatabase(path: path, keys: .key(new), now: Given.now)
        #expect(try right.jar(now: Given.now).header() == "a=1")
        #expect(errorCode { try right.rotateKey(now: Given.now) } == .keyRotationRefused)
    }

    @Test(
        "After an interrupted key rotation, everything can be read, and the next rotation completes it",
        arguments: 0..<5)
    func interrupted(step: Int) throws {
        let database = try open()
        try FullDatabase.fill(database, cookies: 10)
        let values = try FullDatabase.values(database)
        // What the steps of a rotation leave behind: the new key in the file, its row, some values, all of them, and
        // the old row gone.
        try KeyFile(folder.file("key")).appendKey(now: Given.now)
        let keys = try KeyFile(folder.file("key")).load(mayCreate: false)
        if step >= 1 { try database.write { try SealingKeyRows(database: $0).append(keys[1], now: Given.now) } }
        if step >= 2 {
            try database.write { connection in
                for table in SealedTable.allCases {
                    for value in try table.page(connection, after: nil, limit: step == 2 ? 3 : 1000).values {
                        let opened = try #require(database.sealer.open(value.sealed, at: value.place))
                        let sealed = try database.sealer.seal(opened, at: value.place)
                        try SealedTable.write(sealed, to: value, connection)
                    }
                }
            }
        }
        if step >= 4 { try database.write { try SealingKeyRows(database: $0).deleteOlder(than: 2) } }
        let next = try open()
        #expect(try FullDatabase.values(next) == values)
        #expect(try next.keyUse() == (step == 0 ? .former : step < 4 ? .several : .newest))
        try next.jar(now: Given.now).receive("meanwhile=1; Path=/", from: "https://x.example/")
        let rotation = try next.rotateKey(now: Given.now)
        #expect(rotation.began == (step == 0 ? .former : step < 4 ? .several : .newest))
        #expect(try keyCount() == (step < 4 ? 2 : 3))
        let after = try open()
        #expect(try FullDatabase.values(after).count == values.count + 1)
        #expect(try after.jar(now: Given.now).header("https://x.example/") == "meanwhile=1")
        #expect(try FullDatabase.count(after, under: 1) == 0)
        #expect(try after.check().findings.isEmpty)
    }

    @Test("A key rotation keeps the former key and the time, for other databases and backups")
    func kept() throws {
        for name in ["one", "two"] { try open(name).jar(now: Given.now).receive("a=\(name); Path=/") }
        try open("one").backUp(to: folder.file("backup"))
        let later = Given.now.advanced(bySeconds: 3600)
        #expect(try open("one").rotateKey(now: later).resealed == 1)
        let former = try KeyFile(folder.file("key")).formerKeys()
        #expect(former.map(\.replaced) == [later] && former.map(\.position) == [0])
        for (name, needs) in [("one", false), ("two", true), ("backup", true)] {
            #expect(try open(name).jar(now: Given.now).header() == "a=\(name == "backup" ? "one" : name)")
            #expect(try SessionDatabase.needed(former, byFile: folder.file(name)).isEmpty == !needs, "\(name)")
            #expect(try open(name).keyUse() == (needs ? .former : .newest))
        }
        // The newest key exists already, so nothing more is added for the other database.
        #expect(try open("two").rotateKey(now: later).began == .former)
        #expect(try keyCount() == 2 && open("two").keyUse() == .newest)
        try SessionDatabase.restore(
            folder.file("backup"), to: folder.file("one"), keys: .file(folder.file("key")), replacing: true, now: later)
        #expect(try open("one").jar(now: Given.now).header() == "a=one")
    }

    @Test("A key file of the earlier form, with one key, is read and rotated")
    func oneKey() throws {
        try folder.write(Array("crumb-key-1:\(Data(count: 32).base64EncodedString())\n".utf8), to: "key")
        try open().jar(now: Given.now).receive("a=1; Path=/")
        _ = try open().rotateKey(now: Given.now)
        let lines = String(decoding: try folder.bytes("key"), as: UTF8.self).split(separator: "\n")
        #expect(lines.map { $0.hasSuffix(" replaced \(Given.now.rfc3339)") } == [true, false])
        #expect(try open().jar(now: Given.now).header() == "a=1")
    }

    @Test("Only a former key can be forgotten, and only values that need it are lost")
    func forgotten() throws {
        for name in ["one", "two"] { try open(name).jar(now: Given.now).receive("a=\(name); Path=/") }
        _ = try open("one").rotateKey(now: Given.now)
        let stale = try KeyFile(folder.file("key")).formerKeys()
        _ = try open("one").rotateKey(now: Given.now)
        _ = try open("two").rotateKey(now: Given.now)
        let file = KeyFile(folder.file("key"))
        #expect(try file.formerKeys().count == 2)
        try file.forget(stale)
        #expect(try keyCount() == 2 && folder.mode("key") == 0o600)
        try file.forget(try file.formerKeys())
        #expect(try keyCount() == 1)
        for name in ["one", "two"] { #expect(try open(name).jar(now: Given.now).header() == "a=\(name)") }
        _ = try open("one").rotateKey(now: Given.now)
        try file.forget(try file.formerKeys())
        #expect(errorCode { try open("two") } == .keyWrong)
    }

    @Test("A full key file refuses a rotation, and stays readable")
    func full() throws {
        try open().jar(now: Given.now).receive("a=1; Path=/")
        let file = KeyFile(folder.file("key"))
        for _ in 1..<KeyFile.maximumKeyCount { try file.appendKey(now: Given.now) }
        #expect(errorCode { try file.appendKey(now: Given.now) } == .keyRotationRefused)
        #expect(try keyCount() == KeyFile.maximumKeyCount)
        #expect(try open().jar(now: Given.now).header() == "a=1")
    }

    @Test("A key rotation lists unreadable values, and neither changes them nor stops")
    func unreadable() throws {
        let database = try open()
        try FullDatabase.fill(database, cookies: 5)
        try database.execute("UPDATE cookie SET value = x'00' WHERE name = x'6330' AND jar_id = 1")
        try database.execute("UPDATE snapshot_cookie SET secure = 0 WHERE name = x'6331' AND snapshot_id = 2")
        try database.execute("UPDATE token_profile SET id_token = access_token WHERE name = 'p'")
        let rotation = try database.rotateKey(now: Given.now)
        #expect(
            rotation.unreadable.map(\.description) == [
                "cookie 'c0' of h0.example/0 in jar 'default'",
                "cookie 'c1' of h1.example/1 in saved session 'saved' of jar 'work'", "ID token of 'p'",
            ])
        #expect(rotation.resealed == 32 - 3)
        #expect(try FullDatabase.values(open()).count == 29)
        #expect(try database.blob("SELECT value FROM cookie WHERE name = x'6330' AND jar_id = 1") == [0])
        #expect(errorCode { try open().tokens.get("p") } == .valueDamaged)
        #expect(try open().tokens.get("q").tokens.accessToken == Secret("access q"))
    }

    @Test("A locked key file stays locked, under the same passphrase")
    func locked() throws {
        try open(passphrase: "one").jar(now: Given.now).receive("a=1; Path=/")
        let other = try open(passphrase: "one")
        #expect(try open(passphrase: "one").rotateKey(now: Given.now).resealed == 1)
        #expect(try KeyFile(folder.file("key")).state() == KeyFile.State(keyCount: 2, isLocked: true))
        #expect(try other.jar(now: Given.now).header() == "a=1")
        #expect(errorCode { try open(passphrase: "two") } == .keyWrong)
        #expect(try open(passphrase: "one").jar(now: Given.now).header() == "a=1")
    }

    @Test("Of two concurrent key rotations, one fails because the other is running")
    func atOnce() throws {
        let database = try open()
        let lock = try FolderLock(of: folder.file("key"))
        #expect(errorCode { try database.rotateKey(now: Given.now) } == .keyRotationRefused)
        withExtendedLifetime(lock) {}
        #expect(try keyCount() == 1)
    }

    @Test("A key rotation removes a killed process's file beside the key file; a link to a key file stays a link")
    func leftovers() throws {
        try FileManager.default.createDirectory(atPath: folder.file("real"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("key"), withDestinationPath: folder.file("real/key"))
        try folder.write(Array("crumb-key-1:\(Data(count: 32).base64EncodedString())\n".utf8), to: "real/key")
        try folder.write([1], to: "real/key.12-34.new")
        try folder.write([1], to: "real/other.12-34.new")
        let database = try open()
        _ = try database.rotateKey(now: Given.now)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("key")) == folder.file("real/key"))
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("real")).sorted()
        #expect(left == ["key", "other.12-34.new"])
        #expect(try keyCount() == 2)
    }
}
