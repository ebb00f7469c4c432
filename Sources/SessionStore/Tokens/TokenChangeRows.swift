internal import CookieModel
internal import GRDB

/// The `token_change` table: the tokens' journal.
struct TokenChangeRows {
    /// How many entries are kept.
    private static let limit: Int64 = 1000

    let database: Database

    func append(_ cause: TokenChange.Cause, _ name: String, generation: Int64, now: Timestamp) throws {
        let statement = try RowStatement(
            database, "INSERT INTO token_change (name, cause, changed_at, generation) VALUES (?, ?, ?, ?)")
        statement.bind(1, text: name)
        statement.bind(2, cause.rawValue)
        statement.bind(3, now.microseconds)
        statement.bind(4, generation)
        try statement.run()
        let removal = try RowStatement(database, "DELETE FROM token_change WHERE position <= ?")
        removal.bind(1, database.lastInsertedRowID - TokenChangeRows.limit)
        try removal.run()
    }

    func changes(after position: Int64, count: Int) throws -> [TokenChange] {
        let statement = try RowStatement(
            database,
            """
            SELECT position, cause, changed_at, name, generation FROM token_change WHERE position > ?
            ORDER BY position LIMIT ?
            """)
        defer { statement.reset() }
        statement.bind(1, position)
        statement.bind(2, Int64(count))
        var changes: [TokenChange] = []
        while try statement.step() {
            changes.append(
                TokenChange(
                    position: statement.int64(0), cause: TokenChange.Cause(rawValue: statement.int64(1)) ?? .stored,
                    time: statement.timestamp(2), name: statement.text(3), generation: statement.int64(4)))
        }
        return changes
    }
}
