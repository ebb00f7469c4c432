import Platform
import SQLiteEngine
import StoreEngine
import Synchronization
import WebPrimitives

/// The open index of a cache: one SQLite file, which many processes share.
///
/// Lookups have a connection of their own, so that no writer of this process delays them.
final class ResponseIndex: Sendable {
    let database: SQLiteDatabase
    /// The file that was opened.
    let identity: FileIdentity?
    private let reader: Mutex<IndexReader?>

    /// How many seconds to wait for another process. A cache that is busy is a miss.
    private static let busyTimeout = 0.05

    /// Opens the index at `path`, creating it if necessary. The time does not depend on the size of the index.
    ///
    /// - Throws: `SessionStoreError` with the code `databaseNewer` if a newer version of the program has made it: it stays
    ///   as it is. One of an older version counts as foreign, so that a new one takes its place.
    init(_ path: String) throws {
        database = try SQLiteDatabase(
            expendable: path, schema: "\(ResponseIndex.schema)PRAGMA user_version = \(CacheFolder.version);",
            busyTimeout: ResponseIndex.busyTimeout)
        identity = FileIdentity(path)
        let marked = try database.read { try $0.rows("PRAGMA user_version") { $0.int64(0) }.first ?? 0 }
        // The first indexes of version 2 have no mark.
        let version = marked == 0 ? 2 : marked
        guard version <= CacheFolder.version else {
            throw SessionStoreError(
                .databaseNewer, path, "a newer version of crumb has made this cache; nothing was changed: update crumb")
        }
        guard version == CacheFolder.version else {
            throw SessionStoreError(.databaseForeign, path, "an older version of crumb has made this cache")
        }
        reader = Mutex(try IndexReader(database))
    }

    deinit {
        // The connection that can write is the last one, so that it can remove the log.
        reader.withLock { $0 = nil }
    }

    /// Runs `body` with the connection for lookups.
    ///
    /// - Parameter isFromMemory: Whether `body` reads only what was read before, so that the file need not be there.
    func read<Result: Sendable>(
        fromMemory isFromMemory: Bool = false, _ body: @Sendable (inout IndexReader) throws -> Result
    ) throws -> Result? {
        if !isFromMemory { try database.checkFile() }
        return try reader.withLock { reader in
            guard var open = reader.take() else { return nil }
            defer { reader = open }
            return try body(&open)
        }
    }

    /// The tables of an index. To change them, change the version in ``CacheFolder``.
    ///
    /// `response` has one row for each stored response. Its digests are those of ``RowDigests``. `invalidated` is the time
    /// of the last invalidation since the head was written. `generation` counts the changes of both. `file` is the number of the body's file; without it, the body is in `body`. `usage` adds
    /// up the sizes: by jar, and for all in row 0.
    private static let schema = """
        CREATE TABLE response (
            id INTEGER PRIMARY KEY AUTOINCREMENT, key_id INTEGER NOT NULL, jar INTEGER NOT NULL,
            origin INTEGER NOT NULL, site INTEGER NOT NULL, path INTEGER NOT NULL, query INTEGER NOT NULL,
            audience INTEGER NOT NULL, invalidated INTEGER,
            generation INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL, stored INTEGER NOT NULL,
            used INTEGER NOT NULL, file INTEGER, head BLOB NOT NULL
        ) STRICT;
        CREATE INDEX response_by_path ON response (path, query, audience);
        CREATE INDEX response_by_origin ON response (origin);
        CREATE INDEX response_by_site ON response (jar, site);
        CREATE INDEX response_by_use ON response (used);
        CREATE INDEX response_by_jar_and_use ON response (jar, used);
        CREATE INDEX response_by_file ON response (file) WHERE file IS NOT NULL;
        CREATE TABLE body (response INTEGER PRIMARY KEY, octets BLOB NOT NULL) STRICT;
        CREATE TABLE response_group (
            name INTEGER NOT NULL, response INTEGER NOT NULL, PRIMARY KEY (name, response)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX response_group_by_response ON response_group (response);
        CREATE TABLE usage (jar INTEGER PRIMARY KEY, entries INTEGER NOT NULL, size INTEGER NOT NULL) STRICT;
        CREATE TABLE hit (rule TEXT PRIMARY KEY, count INTEGER NOT NULL, octets INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TRIGGER response_added AFTER INSERT ON response BEGIN
            INSERT INTO usage VALUES (0, 1, new.size), (new.jar, 1, new.size)
                ON CONFLICT (jar) DO UPDATE SET entries = entries + 1, size = size + excluded.size;
        END;
        CREATE TRIGGER response_changed AFTER UPDATE OF jar, size ON response BEGIN
            UPDATE usage SET entries = entries - 1, size = size - old.size WHERE jar IN (0, old.jar);
            INSERT INTO usage VALUES (0, 1, new.size), (new.jar, 1, new.size)
                ON CONFLICT (jar) DO UPDATE SET entries = entries + 1, size = size + excluded.size;
            DELETE FROM usage WHERE jar = old.jar AND entries = 0;
        END;
        CREATE TRIGGER response_removed AFTER DELETE ON response BEGIN
            UPDATE usage SET entries = entries - 1, size = size - old.size WHERE jar IN (0, old.jar);
            DELETE FROM usage WHERE jar = old.jar AND entries = 0;
            DELETE FROM body WHERE response = old.id;
            DELETE FROM response_group WHERE response = old.id;
        END;

        """

    /// Adds up the sizes again. The triggers keep the sums right, unless the file was damaged.
    static func addUp(_ connection: SQLiteConnection) throws {
        try connection.run("UPDATE response SET size = 0 WHERE size NOT BETWEEN 0 AND 1 << 40")
        try connection.run("DELETE FROM usage")
        try connection.run("INSERT INTO usage SELECT jar, count(*), sum(size) FROM response GROUP BY jar")
        try connection.run("INSERT OR REPLACE INTO usage SELECT 0, count(*), coalesce(sum(size), 0) FROM response")
    }

    /// Removes all rows. That takes the same time for any number of them. Their IDs are not used again.
    static func removeAll(_ connection: SQLiteConnection) throws {
        // A damaged index may lack the table.
        let last = try? connection.rows("SELECT seq FROM sqlite_sequence WHERE name = 'response'") { $0.int64(0) }.first
        for name in ["response", "body", "response_group", "usage", "hit"] {
            try connection.statement("DROP TABLE IF EXISTS \(name)").run()
        }
        // A semicolon ends a statement only at the end of a line, and not within a trigger.
        var statement = ""
        for line in schema.split(separator: "\n") {
            statement += line + "\n"
            let isTrigger = statement.hasPrefix("CREATE TRIGGER")
            guard isTrigger ? line == "END;" : line.hasSuffix(";") else { continue }
            try connection.statement(statement).run()
            statement = ""
        }
        if let last { try connection.run("INSERT INTO sqlite_sequence VALUES ('response', ?)", [last]) }
    }
}

/// The connection for lookups with its statements.
struct IndexReader {
    private let connection: SQLiteReader
    private let candidates: SQLiteStatement
    private let others: SQLiteStatement
    private let body: SQLiteStatement
    /// What was read last.
    var recent = RecentLookups()

    init(_ database: SQLiteDatabase) throws {
        connection = try database.makeReader()
        candidates = try connection.prepare(StoredRow.lookup)
        others = try connection.prepare(StoredRow.others)
        body = try connection.prepare("SELECT octets FROM body WHERE response = ?")
    }

    /// What was committed last; `nil` if that is unknown.
    func version(_ keyID: UInt32) -> RecentLookups.Version? {
        connection.version.map { RecentLookups.Version(index: $0, keyID: keyID) }
    }

    /// The rows that ``StoredRow/lookup`` finds.
    func rows(_ numbers: [Int64]) throws -> [StoredRow] {
        candidates.bind(all: numbers)
        return try candidates.all(StoredRow.init)
    }

    /// Whether ``StoredRow/others`` finds a row.
    func hasOthers(_ numbers: [Int64]) throws -> Bool {
        others.bind(all: Array(numbers.prefix(3)))
        return try !others.all { _ in true }.isEmpty
    }

    /// The body in the index, opened; `nil` if it is not there, or damaged.
    mutating func openedBody(of id: Int64, _ seal: BodySeal) throws -> [UInt8]? {
        body.bind(all: [id])
        guard let sealed = try body.all({ $0.bytes(0) }).first, Int64(sealed.count) == seal.sealedLength,
            let opened = seal.open(sealed[...], number: 0)
        else { return nil }
        recent.keep(opened, seal)
        return opened
    }
}

/// A row of the index, sealed.
struct StoredRow: Sendable {
    static let columns = """
        id, key_id, jar, origin, site, path, query, audience, invalidated, generation, size, stored, used, file, head
        """
    /// Finds the rows of one path, query and audience, at most as many as the last parameter.
    static let lookup = """
        SELECT \(columns) FROM response
        WHERE path = ? AND query IN (?, \(RowDigests.anyQuery)) AND audience = ? LIMIT ?
        """
    /// Finds a row of one path and query for any other audience.
    static let others = """
        SELECT 1 FROM response WHERE path = ? AND query IN (?, \(RowDigests.anyQuery)) AND audience <> ? LIMIT 1
        """

    let id: Int64
    let keyID: UInt32
    let digests: RowDigests
    let invalidated: Timestamp?
    let generation: Int64
    let size: Int64
    let stored: Timestamp
    let used: Timestamp
    let file: Int64?
    let head: Octets

    init(_ row: SQLiteStatement) {
        id = row.int64(0)
        keyID = UInt32(truncatingIfNeeded: row.int64(1))
        digests = RowDigests(
            jar: row.int64(2), origin: row.int64(3), site: row.int64(4), path: row.int64(5), query: row.int64(6),
            audience: row.int64(7))
        invalidated = row.optionalInt64(8).map(Timestamp.init(microseconds:))
        generation = row.int64(9)
        size = row.int64(10)
        stored = Timestamp(microseconds: row.int64(11))
        used = Timestamp(microseconds: row.int64(12))
        file = row.optionalInt64(13)
        head = Octets(row.bytes(14))
    }
}

extension SQLiteStatement {
    func bind(all numbers: [Int64]) {
        for (index, number) in numbers.enumerated() { bind(Int32(index + 1), number) }
    }

    /// The rows, read by `body`.
    func all<Row>(_ body: (SQLiteStatement) throws -> Row) throws -> [Row] {
        defer { reset() }
        var rows: [Row] = []
        while try step() { rows.append(try body(self)) }
        return rows
    }
}

extension SQLiteConnection {
    /// Runs a statement with numbers as parameters, and reads its rows.
    func rows<Row>(_ sql: String, _ numbers: [Int64] = [], _ body: (SQLiteStatement) throws -> Row) throws -> [Row] {
        let statement = try statement(sql)
        statement.bind(all: numbers)
        return try statement.all(body)
    }

    func run(_ sql: String, _ numbers: [Int64] = []) throws {
        let statement = try statement(sql)
        statement.bind(all: numbers)
        try statement.run()
    }
}
