internal import CookieModel
internal import OAuth2

/// Rows of the tables `service_token`, `service_token_jar` and `service_token_generation`.
struct ServiceTokenRows {
    static let generationQuery = "SELECT generation FROM service_token_generation"
    static let query = """
        SELECT token.name, token.verbs, token.is_for_all_jars, token.created_at, token.expires_at, token.revoked_at,
            token.last_used_at, token.digest, token.id, jar.jar_name
        FROM service_token token LEFT JOIN service_token_jar jar ON jar.token_id = token.id
        ORDER BY token.id
        """

    let database: Connection

    /// All tokens, including revoked ones, in the order of creation, with their digests.
    static func tokens(by statement: Statement) throws -> [(digest: ServiceTokenDigest, token: ServiceToken)] {
        defer { statement.reset() }
        var tokens: [(digest: ServiceTokenDigest, token: ServiceToken)] = []
        var jars: Set<String> = []
        var last: Int64?
        while try statement.step() {
            let isSame = statement.int64(8) == last
            last = statement.int64(8)
            if isSame { tokens.removeLast() } else { jars = [] }
            if statement.optionalInt64(2) == 0, !statement.bytes(9).isEmpty { jars.insert(statement.text(9)) }
            tokens.append((ServiceTokenDigest(bytes: statement.bytes(7)), token(statement, jars)))
        }
        return tokens
    }

    private static func token(_ statement: Statement, _ jars: Set<String>) -> ServiceToken {
        // An unknown text, which a newer version may have written, is not a verb and permits nothing.
        let verbs = statement.text(1).split(separator: " ").compactMap { AccessVerb(rawValue: String($0)) }
        return ServiceToken(
            id: statement.int64(8), name: statement.text(0),
            grant: AccessGrant(verbs: Set(verbs), jars: statement.int64(2) == 0 ? .named(jars) : .all),
            creation: statement.timestamp(3), expiry: statement.optionalTimestamp(4),
            revocation: statement.optionalTimestamp(5), lastUse: statement.optionalTimestamp(6))
    }

    func all() throws -> [(digest: ServiceTokenDigest, token: ServiceToken)] {
        try ServiceTokenRows.tokens(by: database.statement(ServiceTokenRows.query))
    }

    func hasValid(named name: String) throws -> Bool {
        try database.statement("SELECT count(*) FROM service_token WHERE name = ? AND revoked_at IS NULL")
            .returnedNumber(name) > 0
    }

    func insert(
        _ name: String, _ grant: AccessGrant, creation: Timestamp, expiry: Timestamp?, digest: ServiceTokenDigest
    ) throws {
        let verbs = AccessVerb.allCases.filter(grant.verbs.contains).map(\.rawValue)
        let id = try database.statement(
            """
            INSERT INTO service_token (name, digest, verbs, is_for_all_jars, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?) RETURNING id
            """
        ).returnedNumber(name, digest.bytes, verbs.joined(separator: " "), grant.coversAll, creation, expiry)
        if case .named(let names) = grant.jars {
            let jar = try database.statement("INSERT INTO service_token_jar (token_id, jar_name) VALUES (?, ?)")
            for name in names.sorted() { try jar.run(id, name) }
        }
        try countChange()
    }

    /// - Returns: whether a valid token was revoked.
    func revoke(named name: String, now: Timestamp) throws -> Bool {
        let count = try database.statement(
            "UPDATE service_token SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL"
        ).runCounting(now, name)
        guard count > 0 else { return false }
        try countChange()
        return true
    }

    func noteUse(named name: String, at moment: Timestamp) throws {
        try database.statement(
            "UPDATE service_token SET last_used_at = ? WHERE name = ? AND revoked_at IS NULL"
        ).run(moment, name)
    }

    private func countChange() throws {
        try database.statement("UPDATE service_token_generation SET generation = generation + 1").run()
    }
}
