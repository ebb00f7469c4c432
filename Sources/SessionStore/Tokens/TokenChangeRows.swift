package import CookieModel

/// One entry of the tokens' journal: which profile changed, when and why. Never a token.
package struct TokenChange: Sendable, Hashable {
    /// Why a profile changed.
    package enum Cause: Int64, Sendable, CaseIterable {
        /// A login or an import stored the tokens.
        case stored = 1
        /// The server renewed them.
        case refreshed = 2
        /// A new refresh token was stored. The rest of the server's reply follows, or could not be used.
        case rotated = 3
        /// The server no longer accepts the grant.
        case refused = 4
        /// A user removed the profile.
        case removed = 5
        /// The server renewed them, and also sent an ID token of another login, which was not stored.
        case refreshedWithoutIDToken = 6
        /// The database was restored to an earlier state, so the refresh token may already be replaced at the server.
        case quarantined = 7

        /// The cause as it appears in reports.
        package var identifier: String {
            switch self {
            case .stored: "stored"
            case .refreshed: "refreshed"
            case .rotated: "rotated"
            case .refused: "refused"
            case .removed: "removed"
            case .refreshedWithoutIDToken: "refreshed-without-id-token"
            case .quarantined: "quarantined"
            }
        }
    }

    /// Its position in the journal, larger than that of every earlier change.
    package let position: Int64
    /// The reason for the change.
    package let cause: Cause
    /// The time of the change.
    package let time: Timestamp
    /// The profile's name.
    package let name: String
    /// The profile's generation after this change.
    package let generation: Int64
}

extension TokenStore {
    /// The changes of all profiles after a position of their journal, the oldest first, at most `count`.
    ///
    /// The journal keeps the last thousand.
    package func changes(after position: Int64, count: Int = 1000) throws(SessionStoreError) -> [TokenChange] {
        try database.read { try TokenChangeRows(database: $0).changes(after: position, count: count) }
    }
}

/// Rows of the `token_change` table: the tokens' journal.
struct TokenChangeRows {
    /// How many entries are kept.
    private static let limit: Int64 = 1000

    let database: Connection

    func append(_ cause: TokenChange.Cause, _ name: String, generation: Int64, now: Timestamp) throws {
        let position = try database.statement(
            "INSERT INTO token_change (name, cause, changed_at, generation) VALUES (?, ?, ?, ?) RETURNING position"
        ).returnedNumber(name, cause.rawValue, now, generation)
        try database.statement("DELETE FROM token_change WHERE position <= ?").run(position - TokenChangeRows.limit)
    }

    func changes(after position: Int64, count: Int) throws -> [TokenChange] {
        try database.statement(
            """
            SELECT position, cause, changed_at, name, generation FROM token_change WHERE position > ?
            ORDER BY position LIMIT ?
            """
        ).rows(position, count) { row in
            TokenChange(
                position: row.int64(0), cause: TokenChange.Cause(rawValue: row.int64(1)) ?? .stored,
                time: row.timestamp(2), name: row.text(3), generation: row.int64(4))
        }
    }
}
