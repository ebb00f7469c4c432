internal import GRDB

/// What a jar does where a site says "not signed in", as text that the store does not look into.
extension CookieJar {
    /// The definitions of the jar's login rules, by name.
    package func loginRuleDefinitions() throws(SessionStoreError) -> [(name: String, definition: String)] {
        try database.read { connection in
            let statement = try RowStatement(
                connection, "SELECT name, definition FROM login_rule WHERE jar_id = ? ORDER BY name")
            defer { statement.reset() }
            statement.bind(1, id)
            var rules: [(name: String, definition: String)] = []
            while try statement.step() { rules.append((statement.text(0), statement.text(1))) }
            return rules
        }
    }

    /// Keeps a definition under a name, in the place of the one that was there.
    package func setLoginRuleDefinition(_ definition: String, named name: String) throws(SessionStoreError) {
        try SessionStoreError.check(name, of: "rule")
        try database.write { connection in
            let statement = try RowStatement(
                connection,
                """
                INSERT INTO login_rule (jar_id, name, definition) VALUES (?, ?, ?)
                ON CONFLICT (jar_id, name) DO UPDATE SET definition = excluded.definition
                """)
            statement.bind(1, id)
            statement.bind(2, text: name)
            statement.bind(3, text: definition)
            try statement.run()
        }
    }

    /// Forgets a login rule.
    ///
    /// - Returns: whether there was one of that name.
    public func removeLoginRule(named name: String) throws(SessionStoreError) -> Bool {
        try database.write { connection in
            let statement = try RowStatement(connection, "DELETE FROM login_rule WHERE jar_id = ? AND name = ?")
            statement.bind(1, id)
            statement.bind(2, text: name)
            try statement.run()
            return connection.changesCount > 0
        }
    }
}

extension CookieJar {
    /// The tokens in the database that the jar is in.
    public var tokens: TokenStore { TokenStore(database: database) }
}
