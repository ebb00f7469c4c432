import CSQLite
import SQLite
import Testing

@Suite("Statements of SQLite")
struct PreparedStatementTests {
    private let database: DatabaseConnection

    init() throws {
        database = try DatabaseConnection(path: ":memory:")
        try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    }

    /// Binds one value, and returns what SQLite gives back: its type, its octets and its length in SQLite's own view.
    private func stored(
        _ bind: (PreparedStatement) -> Void
    ) throws -> (type: PreparedStatement.ValueType, octets: [UInt8], length: Int64) {
        try database.withStatement("INSERT OR REPLACE INTO t VALUES (1, ?)") { statement in
            bind(statement)
            try statement.run()
        }
        return try database.withStatement("SELECT x, length(CAST(x AS BLOB)) FROM t WHERE id = 1") { statement in
            try #require(try statement.step())
            let type = statement.type(0)
            return (type, type == .null ? [] : Array(statement.borrowedBytes(0)), statement.int64(1))
        }
    }

    @Test("Values of all types come back as they were bound")
    func values() throws {
        for number in [0, 1, -1, Int64.max, .min] {
            let stored = try stored { $0.bind(1, number) }
            #expect(stored.type == .integer && stored.octets == Array("\(number)".utf8))
            #expect(try database.number("SELECT x FROM t") == number)
        }
        #expect(try stored { $0.bindNull(1) }.type == .null)
        #expect(try database.number("SELECT x FROM t") == nil)
        let text = try stored { $0.bind(1, "grün") }
        #expect(text.type == .text && text.octets == Array("grün".utf8) && text.length == 5)
        #expect(try database.texts("SELECT x FROM t") == ["grün"])
        let blob = try stored { statement in [UInt8]([0, 255, 0]).withUnsafeBytes { statement.bind(1, $0) } }
        #expect(blob.type == .blob && blob.octets == [0, 255, 0])
        try database.withStatement("SELECT 1.5") { statement in
            try #require(try statement.step())
            #expect(statement.type(0) == .real && !statement.isNull(0) && statement.int64(0) == 1)
        }
    }

    @Test("An empty text and an empty blob are not NULL; octets in place without an address are")
    func empty() throws {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(try stored { $0.bind(1, "") }.type == .text)
        #expect(try stored { $0.bind(1, text: none) }.type == .text)
        #expect(try stored { $0.bind(1, none) }.type == .blob)
        #expect(try stored { $0.bind(1, inPlace: none) }.type == .null)
        #expect(try stored { $0.bind(1, textInPlace: nil) }.type == .null)
    }

    @Test("Text that is not UTF-8 and text with U+0000 keep their octets")
    func octets() throws {
        for octets in [[0x61, 0xFF, 0x62], [0x61, 0, 0x62], [0], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            let copied = try stored { statement in octets.withUnsafeBytes { statement.bind(1, text: $0) } }
            #expect(copied.type == .text && copied.octets == octets && copied.length == octets.count)
        }
        #expect(try stored { $0.bind(1, "a\u{0}b") }.octets == [0x61, 0, 0x62])
        #expect(try database.texts("SELECT x FROM t") == ["a\u{0}b"])
        try database.execute("UPDATE t SET x = CAST(x'61FF' AS TEXT)")
        #expect(try database.texts("SELECT x FROM t") == ["a\u{FFFD}"])
    }

    @Test("A copy is bound: octets may change before the statement runs")
    func copies() throws {
        for isText in [true, false] {
            let stored = try stored { statement in
                var octets = Array("before".utf8)
                octets.withUnsafeBytes { isText ? statement.bind(1, text: $0) : statement.bind(1, $0) }
                for index in octets.indices { octets[index] = 0x78 }
            }
            #expect(stored.octets == Array("before".utf8))
        }
    }

    @Test("Octets that are bound in place are read when the statement runs")
    func inPlace() throws {
        let octets = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let statement = try database.prepare("INSERT INTO t VALUES (?, ?)")
        try octets.withUnsafeBytes { octets in
            for id: Int64 in 2...3 {
                statement.bind(1, id)
                if id == 2 { statement.bind(2, inPlace: octets) } else { statement.bind(2, textInPlace: octets) }
                try statement.run()
                #expect(statement.changeCount == 1)
            }
            statement.releaseParameters()
        }
        let types = try database.texts("SELECT typeof(x) FROM t WHERE CAST(x AS BLOB) = (SELECT x FROM t WHERE id = 2)")
        #expect(types == ["blob", "text"])
        // The parameters are NULL now, and SQLite chooses the number.
        try statement.run()
        #expect(try database.number("SELECT count(*) FROM t WHERE x IS NULL AND id = 4") == 1)
    }

    @Test("Big blobs come back, and one that is longer than the limit does not", arguments: [1 << 16, 20_000_000])
    func big(count: Int) throws {
        let octets = [UInt8](repeating: 0xA5, count: count)
        let stored = try stored { statement in octets.withUnsafeBytes { statement.bind(1, $0) } }
        #expect(stored.octets == octets && stored.length == count)
        database.limitLengths(to: Int32(count))
        let error = #expect(throws: DatabaseError.self) {
            try database.execute("UPDATE t SET x = CAST(zeroblob(\(count)) AS BLOB) || 'xy'")
        }
        #expect(error?.isTooBig == true)
        #expect(try database.number("SELECT length(x) FROM t") == Int64(count))
    }

    @Test("A statement runs again after an error, with the parameters that stay bound")
    func reuse() throws {
        let statement = try database.cachedStatement("INSERT INTO t VALUES (?, 'a')")
        statement.bind(1, 5)
        try statement.run()
        for _ in 0..<3 {
            let error = #expect(throws: DatabaseError.self) { try statement.run() }
            #expect(error?.code == SQLITE_CONSTRAINT | 6 << 8 && error?.primaryCode == SQLITE_CONSTRAINT)
            #expect(error?.message == "UNIQUE constraint failed: t.id")
        }
        statement.bind(1, 6)
        try statement.run()
        #expect(try database.cachedStatement("INSERT INTO t VALUES (?, 'a')").changeCount == 1)
        #expect(try database.number("SELECT count(*) FROM t") == 2)
    }

    @Test("A reset statement begins again, and a row is not there after the last one")
    func rows() throws {
        try database.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL)")
        let statement = try database.cachedStatement("SELECT id, x FROM t WHERE id >= ? ORDER BY id")
        statement.bind(1, 2)
        for _ in 0..<2 {
            #expect(try statement.step())
            #expect(statement.int64(0) == 2 && statement.text(1) == "b" && !statement.isNull(1))
            statement.reset()
        }
        var numbers: [Int64] = []
        while try statement.step() { numbers.append(statement.int64(0)) }
        #expect(numbers == [2, 3])
    }
}
