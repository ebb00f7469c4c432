/// Rows of the `login_rule` table: what jars do if a site says "not signed in".
struct LoginRuleRows {
    let database: Connection
    let jarID: Int64

    /// The rules of a jar by name: a query with the jar's ID as its parameter.
    static let query = "SELECT name, definition FROM login_rule WHERE jar_id = ? ORDER BY name"

    func all() throws -> [(name: String, definition: String)] {
        try LoginRuleRows.rules(ofJar: jarID, by: database.statement(LoginRuleRows.query))
    }

    /// Returns the rows of ``query`` for a jar.
    static func rules(
        ofJar jarID: Int64, by statement: Statement
    ) throws -> [(name: String, definition: String)] {
        try statement.rows(jarID) { ($0.text(0), $0.text(1)) }
    }

    func put(_ definition: String, named name: String) throws {
        try database.statement(
            """
            INSERT INTO login_rule (jar_id, name, definition) VALUES (?, ?, ?)
            ON CONFLICT (jar_id, name) DO UPDATE SET definition = excluded.definition
            """
        ).run(jarID, name, definition)
    }

    /// Removes a rule. Returns whether a rule of that name existed.
    func delete(named name: String) throws -> Bool {
        try database.statement("DELETE FROM login_rule WHERE jar_id = ? AND name = ?").runCounting(jarID, name) > 0
    }

    /// Copies the rules of another jar whose names this jar does not use.
    func take(from otherID: Int64) throws {
        try database.statement(
            """
            INSERT INTO login_rule (jar_id, name, definition)
            SELECT ?, name, definition FROM login_rule WHERE jar_id = ?
            ON CONFLICT (jar_id, name) DO NOTHING
            """
        ).run(jarID, otherID)
    }
}

/// The jar's rules for "not signed in" responses, as text that the store does not parse.
extension CookieJar {
    /// The definitions of the jar's login rules, by name. Reads no row if nothing was written since the last call.
    package func loginRuleDefinitions() throws(SessionStoreError) -> [(name: String, definition: String)] {
        if state?.jar?.hasLoginRules == false { return [] }
        return try SessionStoreError.catching(database.path) {
            try database.jarCache.loginRules(ofJar: id, in: database)
        }
    }

    /// The same as ``loginRuleDefinitions()``, without blocking the caller's thread.
    package func currentLoginRuleDefinitions() async throws(SessionStoreError) -> [(name: String, definition: String)] {
        if state?.jar?.hasLoginRules == false { return [] }
        if let known = try? database.jarCache.loginRulesInMemory(ofJar: id, in: database) { return known }
        return try await database.readingToEnd { () throws(SessionStoreError) in try self.loginRuleDefinitions() }
    }

    /// Stores a definition under a name, replacing an earlier one.
    package func setLoginRuleDefinition(_ definition: String, named name: String) throws(SessionStoreError) {
        try SessionStoreError.check(name, of: "rule")
        try database.write(.jar(id)) { try LoginRuleRows(database: $0, jarID: id).put(definition, named: name) }
    }

    /// Removes a login rule.
    ///
    /// - Returns: whether one of that name existed.
    public func removeLoginRule(named name: String) throws(SessionStoreError) -> Bool {
        // PostgreSQL does not accept this character, and no name contains it.
        guard !name.utf8.contains(0) else { return false }
        return try database.write(.jar(id)) { try LoginRuleRows(database: $0, jarID: id).delete(named: name) }
    }
}

extension CookieJar {
    /// The tokens in the database that the jar is in.
    public var tokens: TokenStore { TokenStore(database: database) }
}
