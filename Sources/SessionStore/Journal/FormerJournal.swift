internal import GRDB

/// The `former_journal` table: how far the journals of jars went that are gone from under their name.
///
/// One number for all of them, so that nothing stays behind of the names.
struct FormerJournal {
    /// Where a journal begins that nobody can have read before, as `first`: a query.
    static let firstChange =
        "SELECT 1 + coalesce((SELECT next_change FROM former_journal WHERE id = 1), 0) AS first"

    let database: Database

    /// Counts in the journal of a jar that is about to lose its name.
    func include(jar id: Int64) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO former_journal (id, next_change) SELECT 1, (\(ChangeRows.nextPositionQuery)) WHERE true
            ON CONFLICT (id) DO UPDATE SET next_change = max(next_change, excluded.next_change)
            """)
        statement.bind(1, id)
        try statement.run()
    }
}
