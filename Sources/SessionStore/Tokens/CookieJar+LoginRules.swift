/// What a jar does where a site says "not signed in", as text that the store does not look into.
extension CookieJar {
    /// The definitions of the jar's login rules, by name. Costs no row where nothing was written since the last call.
    package func loginRuleDefinitions() throws(SessionStoreError) -> [(name: String, definition: String)] {
        try SessionStoreError.catching(database.path) { try database.jarCache.loginRules(ofJar: id, in: database) }
    }

    /// Keeps a definition under a name, in the place of the one that was there.
    package func setLoginRuleDefinition(_ definition: String, named name: String) throws(SessionStoreError) {
        try SessionStoreError.check(name, of: "rule")
        try database.write { try LoginRuleRows(database: $0, jarID: id).put(definition, named: name) }
    }

    /// Forgets a login rule.
    ///
    /// - Returns: whether there was one of that name.
    public func removeLoginRule(named name: String) throws(SessionStoreError) -> Bool {
        try database.write { try LoginRuleRows(database: $0, jarID: id).delete(named: name) }
    }
}

extension CookieJar {
    /// The tokens in the database that the jar is in.
    public var tokens: TokenStore { TokenStore(database: database) }
}
