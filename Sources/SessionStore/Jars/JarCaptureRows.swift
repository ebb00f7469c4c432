internal import GRDB

/// The `capture` table as a whole jar is handled.
struct JarCaptureRows {
    let database: Database
    let jarID: Int64

    /// Has this jar know the captures that another one has taken in.
    ///
    /// - Returns: the ids of this jar by those of the other.
    func take(from otherID: Int64) throws -> [Int64: Int64] {
        let insertion = try RowStatement(
            database,
            """
            INSERT INTO capture (jar_id, digest, name, imported_at)
            SELECT ?1, digest, name, imported_at FROM capture WHERE jar_id = ?2 ORDER BY id
            ON CONFLICT (jar_id, digest) DO NOTHING
            """)
        insertion.bind(1, jarID)
        insertion.bind(2, otherID)
        try insertion.run()
        let statement = try RowStatement(
            database,
            """
            SELECT other.id, own.id FROM capture AS other JOIN capture AS own ON own.digest = other.digest
            WHERE other.jar_id = ?2 AND own.jar_id = ?1
            """)
        defer { statement.reset() }
        statement.bind(1, jarID)
        statement.bind(2, otherID)
        var ids: [Int64: Int64] = [:]
        while try statement.step() { ids[statement.int64(0)] = statement.int64(1) }
        return ids
    }

    /// Lets every capture be imported again, which would otherwise change nothing: the jar no longer has what it gave.
    ///
    /// The rows stay, since cookies name them as where they came from.
    func allowAgain() throws {
        let statement = try RowStatement(
            database,
            "UPDATE capture SET digest = CAST('again ' || id AS BLOB) WHERE jar_id = ? AND length(digest) = 32")
        statement.bind(1, jarID)
        try statement.run()
    }
}
