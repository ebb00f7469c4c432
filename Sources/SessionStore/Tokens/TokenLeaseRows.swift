internal import CookieModel
internal import GRDB

/// The `token_lease` table.
struct TokenLeaseRows {
    let database: Database

    /// A lease as it stands in its row.
    struct Lease {
        let holder: LeaseHolder
        let expiry: Timestamp

        /// Whether its holder is to be waited for. An end that no holder can mean was written before the clock was set
        /// back.
        func isBelieved(at now: Timestamp) -> Bool {
            expiry > now && expiry <= now.advanced(bySeconds: 3600)
        }
    }

    func lease(_ profileID: Int64) throws -> Lease? {
        let statement = try RowStatement(
            database, "SELECT holder, expires_at FROM token_lease WHERE profile_id = ?")
        defer { statement.reset() }
        statement.bind(1, profileID)
        return try statement.step()
            ? Lease(holder: LeaseHolder(statement.text(0)), expiry: statement.timestamp(1)) : nil
    }

    func put(_ profileID: Int64, _ holder: LeaseHolder, _ expiry: Timestamp) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO token_lease (profile_id, holder, expires_at) VALUES (?, ?, ?)
            ON CONFLICT (profile_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
            """)
        statement.bind(1, profileID)
        statement.bind(2, text: holder.description)
        statement.bind(3, expiry.microseconds)
        try statement.run()
    }

    func renew(_ name: String, _ holder: LeaseHolder, _ expiry: Timestamp) throws -> Bool {
        let statement = try RowStatement(
            database,
            """
            UPDATE token_lease SET expires_at = ?
            WHERE profile_id = (SELECT id FROM token_profile WHERE name = ?) AND holder = ?
            """)
        statement.bind(1, expiry.microseconds)
        statement.bind(2, text: name)
        statement.bind(3, text: holder.description)
        try statement.run()
        return database.changesCount > 0
    }

    func release(_ profileID: Int64, _ holder: LeaseHolder) throws {
        let statement = try RowStatement(database, "DELETE FROM token_lease WHERE profile_id = ? AND holder = ?")
        statement.bind(1, profileID)
        statement.bind(2, text: holder.description)
        try statement.run()
    }
}
