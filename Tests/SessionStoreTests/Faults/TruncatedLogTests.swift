import CookieModel
import Foundation
import TestSupport
import Testing

@testable import SessionStore

@Suite("A write-ahead log that was cut off or changed")
struct TruncatedLogTests {
    private let folder = TemporaryFolder()
    private static let writes = 20

    /// A database whose log holds so many writes, as a process leaves it that dies: step by step, two cookies each.
    private func died() throws -> (database: [UInt8], log: [UInt8]) {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        try jar.receive("first=0; Path=/", "last=0; Path=/")
        // Everything so far goes into the file itself, so that the log holds the writes that are cut off.
        _ = try jar.database.number("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in 1...TruncatedLogTests.writes {
            try jar.receive("first=\(number); Path=/", "own\(number)=1; Path=/", "last=\(number); Path=/")
        }
        return (try folder.bytes("crumb.sqlite"), try folder.bytes("crumb.sqlite-wal"))
    }

    /// How many writes a jar holds, each of them whole, the ones before it too.
    private func writes(_ name: String, _ comment: Comment) throws -> Int {
        let jar = try Given.jar(folder.file(name))
        #expect(try jar.database.text("PRAGMA integrity_check") == "ok", comment)
        let cookies = try jar.cookies().readable
        let values = Dictionary(
            uniqueKeysWithValues: cookies.map { ($0.name.description, $0.value.description) })
        let count = try #require(values["first"].flatMap { Int($0) }, comment)
        #expect(values["last"] == values["first"], comment)
        let own = Set(values.keys.filter { $0.hasPrefix("own") })
        #expect(own == Set((0..<count).map { "own\($0 + 1)" }), comment)
        #expect(try jar.changes(after: 0).position == Int64(2 + 3 * count), comment)
        // And it goes on from there.
        try jar.receive("next=1; Path=/")
        #expect(try jar.header().hasSuffix("next=1"), comment)
        return count
    }

    @Test("A truncated log has all complete writes up to the cut, and is used without repair")
    func truncated() throws {
        let (database, log) = try died()
        var counts: [Int] = []
        // A frame is 4120 bytes: this cuts into headers, pages and between them.
        let lengths = Array(stride(from: 0, to: log.count, by: 1373)) + [log.count]
        for length in lengths {
            try folder.write(database, to: "cut.sqlite")
            try folder.write(log.prefix(length), to: "cut.sqlite-wal")
            counts.append(try writes("cut.sqlite", "\(length) bytes"))
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: folder.file("cut.sqlite\(suffix)"))
            }
        }
        #expect(counts == counts.sorted())
        #expect(counts.first == 0 && counts.last == TruncatedLogTests.writes)
        #expect(Set(counts).count == TruncatedLogTests.writes + 1)
    }

    @Test("A changed log counts up to the change", arguments: 0..<10)
    func changed(seed: Int) throws {
        let (database, log) = try died()
        var random = SeededGenerator(seed: UInt64(seed))
        var bytes = log
        bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
        try folder.write(database, to: "changed.sqlite")
        try folder.write(bytes, to: "changed.sqlite-wal")
        #expect((0...TruncatedLogTests.writes).contains(try writes("changed.sqlite", "seed \(seed)")))
    }

    @Test("A log that is truncated while a process has it open gives an error or a correct answer")
    func whileOpen() throws {
        let path = folder.file("crumb.sqlite")
        let jar = try Given.jar(path)
        for number in 0..<30 { try jar.receive("c\(number)=1; Path=/p\(number)") }
        try folder.truncate("crumb.sqlite-wal", to: 4120)
        do {
            let names = try jar.cookies().readable.map(\.name.description)
            #expect(names == (0..<30).map { "c\($0)" })
        } catch {
            #expect([.databaseFailed, .databaseDamaged].contains(error.code) && error.subject == path)
        }
    }
}

extension TemporaryFolder {
    /// Cuts a file off without making it a new one.
    func truncate(_ name: String, to length: UInt64) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: file(name)))
        defer { try? handle.close() }
        try handle.truncate(atOffset: length)
    }
}
