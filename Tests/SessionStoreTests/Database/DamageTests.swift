import CookieModel
import Foundation
import TestSupport
import Testing

@testable import SessionStore

@Suite("Damaged databases")
struct DamageTests {
    private let folder = TemporaryFolder()

    /// Uses a database in every way; whatever fails fails as an error of the store.
    private func use(_ path: String) throws {
        do {
            let database = try Given.database(path)
            let jar = try database.jar(now: Given.now)
            _ = try jar.cookies()
            for host in 0..<6 { _ = try jar.header("https://h\(host).example/") }
            try jar.receive("new=1", from: "https://h3.example/")
            _ = try database.jars(now: Given.now)
            _ = try database.tokens.all()
        } catch is SessionStoreError {}
    }

    private func makeDatabase(_ path: String) throws {
        let jar = try Given.jar(path)
        for host in 0..<6 {
            for number in 0..<20 {
                try jar.receive(
                    "c\(number)=value; Path=/p\(number); Max-Age=\(1000 + number)", from: "https://h\(host).example/")
            }
        }
    }

    @Test("A database with random changes gives errors or answers, never a crash", arguments: 0..<60)
    func randomChanges(seed: Int) throws {
        let path = folder.file("crumb.sqlite")
        try makeDatabase(path)
        var bytes = try folder.bytes("crumb.sqlite")
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<Int.random(in: 1...40, using: &generator) {
            let place = Int.random(in: 100..<bytes.count, using: &generator)
            let length = min(Int.random(in: 1...64, using: &generator), bytes.count - place)
            for index in place..<(place + length) { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
        }
        try folder.write(bytes, to: "crumb.sqlite")
        try use(path)
    }

    @Test("A truncated database gives errors or answers, never a crash", arguments: 0..<20)
    func cutOff(seed: Int) throws {
        let path = folder.file("crumb.sqlite")
        try makeDatabase(path)
        let bytes = try folder.bytes("crumb.sqlite")
        var generator = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 100..<bytes.count, using: &generator)
        try folder.write(bytes.prefix(count), to: "crumb.sqlite")
        try use(path)
    }

    @Test("A damaged database is reported as damaged")
    func named() throws {
        let path = folder.file("crumb.sqlite")
        try makeDatabase(path)
        let bytes = try folder.bytes("crumb.sqlite")
        try folder.write(bytes.prefix(4096) + [UInt8](repeating: 0xFF, count: bytes.count - 4096), to: "crumb.sqlite")
        let error = #expect(throws: SessionStoreError.self) { try Given.jar(path).cookies() }
        #expect(error?.code == .databaseDamaged)
        #expect(error?.subject == path)
    }

    @Test("A write-ahead log of garbage beside an intact database is ignored")
    func garbageLog() throws {
        let path = folder.file("crumb.sqlite")
        try makeDatabase(path)
        try folder.write((0..<50_000).map { UInt8(truncatingIfNeeded: $0) }, to: "crumb.sqlite-wal")
        #expect(try Given.jar(path).cookies().readable.count == 120)
    }

    @Test("Rows that no rule would store are read unchanged, and not sent where they must not be")
    func oddRows() throws {
        let jar = try Given.jar()
        try jar.receive("a=1", "b=2")
        try jar.database.execute("UPDATE cookie SET domain = x'FF00', path = x'', host_only = 0 WHERE name = x'61'")
        #expect(try jar.header() == "b=2")
        try jar.database.execute("UPDATE cookie SET expires_at = -9223372036854775808 WHERE name = x'62'")
        #expect(try jar.header() == "")
        #expect(try jar.cookies().unreadable.count == 2)
    }
}
