internal import CookieModel
internal import GRDB

/// The `capture` table.
struct CaptureRows {
    let database: Database
    let jarID: Int64

    /// The capture of that digest that was imported whole.
    func capture(_ digest: [UInt8]) throws -> CaptureRecord? {
        let statement = try RowStatement(
            database, "SELECT name, imported_at FROM capture WHERE jar_id = ? AND digest = ?")
        defer { statement.reset() }
        statement.bind(1, jarID)
        statement.bind(2, digest)
        guard try statement.step() else { return nil }
        return CaptureRecord(name: statement.text(0), imported: Timestamp(microseconds: statement.int64(1)))
    }

    /// Makes the record of a capture whose import begins. It is not known by its digest before it was imported whole.
    func insert(_ name: String, now: Timestamp) throws -> Int64 {
        let statement = try RowStatement(
            database, "INSERT INTO capture (jar_id, digest, name, imported_at) VALUES (?, randomblob(8), ?, ?)")
        statement.bind(1, jarID)
        statement.bind(2, text: name)
        statement.bind(3, now.microseconds)
        try statement.run()
        return database.lastInsertedRowID
    }

    /// Says that a capture was imported whole; an earlier import of the same octets is forgotten.
    func finish(_ id: Int64, _ digest: [UInt8]) throws {
        let forget = try RowStatement(
            database, "UPDATE capture SET digest = randomblob(8) WHERE jar_id = ? AND digest = ?")
        forget.bind(1, jarID)
        forget.bind(2, digest)
        try forget.run()
        let statement = try RowStatement(database, "UPDATE capture SET digest = ? WHERE id = ?")
        statement.bind(1, digest)
        statement.bind(2, id)
        try statement.run()
    }
}
