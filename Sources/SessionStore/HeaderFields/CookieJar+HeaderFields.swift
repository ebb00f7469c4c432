package import OAuth2

/// The header fields that are kept with a jar, as text that the store does not look into.
extension CookieJar {
    /// The jar's header fields by name, of one name those for fewer URLs first. Costs no row where nothing was written
    /// since the last call.
    public func headerFields() throws(SessionStoreError) -> [StoredHeaderField] {
        let rows = try SessionStoreError.catching(database.path) {
            try database.jarCache.headerFields(ofJar: id, in: database)
        }
        let fields = opened(rows)
        guard fields.contains(where: { $0.value == nil }) else { return fields }
        // A reading that looks for newer keys, where it is not the value that is damaged.
        return opened(try database.read { try HeaderFieldRows(database: $0, jarID: id).all() })
    }

    /// The same for who has just opened the jar: where it had no fields then, nothing is asked.
    package func headerFieldsOfJustOpened() throws(SessionStoreError) -> [StoredHeaderField] {
        hasHeaderFields ? try headerFields() : []
    }

    /// Keeps a field in the place of the one of that name and scope.
    ///
    /// - Parameter scope: what the URLs begin with; `nil` for all.
    package func setHeaderField(_ value: Secret, named name: String, scope: String?) throws(SessionStoreError) {
        try SessionStoreError.check(name, of: "header field")
        try database.write { connection in
            let sealed = try database.sealer.seal(
                value.exposedBytes, at: HeaderFieldRows.place(id, name, scope ?? ""))
            try HeaderFieldRows(database: connection, jarID: id).put(sealed, named: name, scope: scope ?? "")
        }
    }

    /// Forgets a field.
    ///
    /// - Returns: whether there was one of that name and scope.
    package func removeHeaderField(named name: String, scope: String?) throws(SessionStoreError) -> Bool {
        try database.write { try HeaderFieldRows(database: $0, jarID: id).delete(named: name, scope: scope ?? "") }
    }

    private func opened(_ rows: [HeaderFieldRows.Row]) -> [StoredHeaderField] {
        guard !rows.isEmpty else { return [] }
        let sealer = database.sealer
        return rows.map { $0.opened(by: sealer, jarID: id) }
    }
}
