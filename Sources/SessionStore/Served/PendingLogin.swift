internal import CookieModel
package import OAuth2
package import WebPrimitives

/// A stored login in progress. It is found by its identifier, and by the state of its redirect.
package struct PendingLogin: Sendable {
    package let id: String
    package let expiry: Timestamp
    /// The SHA-256 of the `state` in the browser's redirect; `nil` if no browser is expected.
    package var stateDigest: [UInt8]?
    /// All other data. A database seals it.
    package var content: Secret

    package init(id: String, expiry: Timestamp, stateDigest: [UInt8]?, content: Secret) {
        self.id = id
        self.expiry = expiry
        self.stateDigest = stateDigest
        self.content = content
    }

    /// The context that the content is sealed to: the whole row.
    fileprivate var place: [UInt8] {
        var place = SealedPlace("pending login")
        place.append(id.utf8)
        place.append(stateDigest ?? [])
        place.append(expiry.microseconds)
        return place.bytes
    }
}

/// Logins in progress are stored only on a server. A file is used by one service, which keeps them in memory.
///
/// An expired login, and one whose row was changed or sealed under a removed key, counts as unknown.
extension SessionDatabase {
    /// Adds a login, unless `limit` logins are stored. Logins that are added at the same time may exceed the limit.
    ///
    /// - Returns: Whether the login was added.
    package func add(_ login: PendingLogin, limit: Int, now: Timestamp) throws(SessionStoreError) -> Bool {
        try write(.changedRows) { connection in
            let rows = PendingLoginRows(database: connection, sealer: sealer)
            // Each login adds one row, so removing two is enough.
            try connection.removeExpired(from: "pending_login", key: "id", before: now, limit: 2)
            guard try rows.count(upTo: limit, now: now) < limit else { return false }
            try rows.insert(login)
            return true
        }
    }

    /// The login with an identifier; `nil` if it is unknown.
    package func pendingLogin(_ id: String, now: Timestamp) throws(SessionStoreError) -> PendingLogin? {
        try read { try PendingLoginRows(database: $0, sealer: sealer).login(id, now: now) }
    }

    /// The login whose redirect has a state with this digest; `nil` if it is unknown.
    package func pendingLogin(
        withStateDigest digest: [UInt8], now: Timestamp
    ) throws(SessionStoreError) -> PendingLogin? {
        try read { try PendingLoginRows(database: $0, sealer: sealer).login(withStateDigest: digest, now: now) }
    }

    /// Changes a login. Other changes of it, by any service, wait.
    ///
    /// - Parameter change: Changes the present login. It may run again.
    /// - Returns: The result of `change`; `nil` if the login is unknown.
    package func changePendingLogin<Result>(
        _ id: String, now: Timestamp, _ change: (inout PendingLogin) throws -> Result
    ) throws(SessionStoreError) -> Result? {
        try write(.changedRows) { connection in
            let rows = PendingLoginRows(database: connection, sealer: sealer)
            guard var login = try rows.login(id, now: now, locking: true) else { return nil }
            let result = try change(&login)
            try rows.update(login)
            return result
        }
    }

    /// Removes a login.
    ///
    /// - Returns: Whether it existed.
    package func removePendingLogin(_ id: String, now: Timestamp) throws(SessionStoreError) -> Bool {
        try write(.changedRows) { try PendingLoginRows(database: $0, sealer: sealer).remove(id, now: now) }
    }
}

/// Rows of the `pending_login` table.
struct PendingLoginRows {
    let database: Connection
    let sealer: Sealer

    /// The number of logins, counted up to a limit.
    func count(upTo limit: Int, now: Timestamp) throws -> Int64 {
        try database.statement(
            "SELECT count(*) FROM (SELECT 1 FROM pending_login WHERE expires_at >= ?1 LIMIT ?2) AS known"
        ).returnedNumber(now, limit)
    }

    func insert(_ login: PendingLogin) throws {
        try database.statement(
            "INSERT INTO pending_login (id, state_digest, content, expires_at) VALUES (?, ?, ?, ?)"
        ).run(login.id, login.stateDigest, try sealer.seal(login.content.exposedBytes, at: login.place), login.expiry)
    }

    func update(_ login: PendingLogin) throws {
        let statement = try database.statement("UPDATE pending_login SET state_digest = ?, content = ? WHERE id = ?")
        statement.bindAll(login.stateDigest, try sealer.seal(login.content.exposedBytes, at: login.place), login.id)
        try statement.runChangingOneRow()
    }

    func remove(_ id: String, now: Timestamp) throws -> Bool {
        try database.statement("DELETE FROM pending_login WHERE id = ? AND expires_at >= ?").runCounting(id, now) > 0
    }

    func removeAll() throws {
        try database.statement("DELETE FROM pending_login").run()
    }

    private static let query = "SELECT id, state_digest, content, expires_at FROM pending_login"

    /// - Parameter isLocking: Whether to wait for other changes of the row, and to block them.
    func login(_ id: String, now: Timestamp, locking isLocking: Bool = false) throws -> PendingLogin? {
        try database.statement(
            "\(Self.query) WHERE id = ? AND expires_at >= ?\(isLocking ? " FOR UPDATE" : "")"
        ).first(id, now) { login($0) }
    }

    func login(withStateDigest digest: [UInt8], now: Timestamp) throws -> PendingLogin? {
        try database.statement("\(Self.query) WHERE state_digest = ? AND expires_at >= ?")
            .first(digest, now) { login($0) }
    }

    private func login(_ row: Statement) -> PendingLogin? {
        var login = PendingLogin(
            id: row.text(0), expiry: row.timestamp(3), stateDigest: row.isNull(1) ? nil : row.bytes(1),
            content: Secret([]))
        guard let content = sealer.open(Octets(row.bytes(2)), at: login.place) else { return nil }
        login.content = Secret(content)
        return login
    }
}
