internal import CookieModel
package import OAuth2

/// A header field that a jar stores for its requests.
package struct StoredHeaderField: Sendable, Equatable {
    /// The field's name as it was written. Names are compared without case.
    package let name: String
    /// The prefix of the URLs that the field is for; `nil` for all URLs.
    package let scope: String?
    /// The field's value; `nil` if the stored one was changed, moved or truncated.
    package let value: Secret?

    package init(name: String, scope: String?, value: Secret?) {
        self.name = name
        self.scope = scope
        self.value = value
    }
}

extension SessionStoreError {
    /// A stored header field cannot be read.
    package init(damagedFieldNamed name: String) {
        self.init(.valueDamaged, name, "the stored header field was changed or damaged; set it again")
    }
}

/// The header fields of a jar, as text that the store does not parse.
extension CookieJar {
    /// The jar's header fields by name. Fields of the same name are sorted by scope, those for fewer URLs first. Reads
    /// no row if nothing was written since the last call.
    package func headerFields() throws(SessionStoreError) -> [StoredHeaderField] {
        let rows = try SessionStoreError.catching(database.path) {
            try database.jarCache.headerFields(ofJar: id, in: database)
        }
        let fields = opened(rows)
        guard fields.contains(where: { $0.value == nil }) else { return fields }
        // A read that loads newer keys, because the value may not be damaged.
        return opened(try database.read { try HeaderFieldRows(database: $0, jarID: id).all() })
    }

    /// The same for a caller that has just opened the jar. Reads nothing if the jar had no fields then.
    package func cachedHeaderFields() throws(SessionStoreError) -> [StoredHeaderField] {
        hasHeaderFields ? try headerFields() : []
    }

    /// The same as ``cachedHeaderFields()``, without blocking the caller's thread.
    package func currentHeaderFields() async throws(SessionStoreError) -> [StoredHeaderField] {
        guard hasHeaderFields else { return [] }
        if let rows = try? database.jarCache.headerFieldsInMemory(ofJar: id, in: database) {
            let fields = opened(rows)
            if fields.allSatisfy({ $0.value != nil }) { return fields }
        }
        return try await database.readingToEnd { () throws(SessionStoreError) in try self.headerFields() }
    }

    /// Stores a field, replacing the one of the same name and scope.
    ///
    /// - Parameter scope: the prefix of the URLs; `nil` for all.
    package func setHeaderField(_ value: Secret, named name: String, scope: String?) throws(SessionStoreError) {
        try SessionStoreError.check(name, of: "header field")
        try database.write(.jar(id)) { connection in
            let sealed = try database.sealer.seal(
                value.exposedBytes, at: HeaderFieldRows.place(id, name, scope ?? ""))
            try HeaderFieldRows(database: connection, jarID: id).put(sealed, named: name, scope: scope ?? "")
        }
    }

    /// Removes a field.
    ///
    /// - Returns: whether a field of that name and scope existed.
    package func removeHeaderField(named name: String, scope: String?) throws(SessionStoreError) -> Bool {
        try database.write(.jar(id)) {
            try HeaderFieldRows(database: $0, jarID: id).delete(named: name, scope: scope ?? "")
        }
    }

    private func opened(_ rows: [HeaderFieldRows.Row]) -> [StoredHeaderField] {
        guard !rows.isEmpty else { return [] }
        let sealer = database.sealer
        return rows.map { $0.opened(by: sealer, jarID: id) }
    }
}

/// Rows of the `header_field` table. Values are sealed to jar, name and scope.
struct HeaderFieldRows {
    /// A row with its stored value.
    struct Row: Sendable {
        let name: String
        /// Empty for all URLs.
        let scope: String
        let sealed: Octets

        /// The field with its value opened.
        func opened(by sealer: Sealer, jarID: Int64) -> StoredHeaderField {
            let value = sealer.open(sealed, at: HeaderFieldRows.place(jarID, name, scope))
            return StoredHeaderField(name: name, scope: scope.isEmpty ? nil : scope, value: value.map { Secret($0) })
        }
    }

    let database: Connection
    let jarID: Int64

    /// The fields of a jar: a query with the jar's ID as its parameter. Of fields with the same name, those for fewer
    /// URLs come first.
    static let query = """
        SELECT name, scope, value FROM header_field WHERE jar_id = ? ORDER BY name, length(scope) DESC, scope
        """

    func all() throws -> [Row] {
        try HeaderFieldRows.rows(ofJar: jarID, by: database.statement(HeaderFieldRows.query))
    }

    /// The result of ``query`` for a jar.
    static func rows(ofJar jarID: Int64, by statement: Statement) throws -> [Row] {
        try statement.rows(jarID) { Row(name: $0.text(0), scope: $0.text(1), sealed: Octets($0.bytes(2))) }
    }

    /// Stores a value, replacing an earlier one. The name is stored as it is written now.
    func put(_ sealed: [UInt8], named name: String, scope: String) throws {
        try database.statement(
            """
            INSERT INTO header_field (jar_id, name, scope, value) VALUES (?, ?, ?, ?)
            ON CONFLICT (jar_id, name, scope) DO UPDATE SET name = excluded.name, value = excluded.value
            """
        ).run(jarID, name, scope, sealed)
    }

    /// Removes a field. Returns whether a field of that name and scope existed.
    func delete(named name: String, scope: String) throws -> Bool {
        try database.statement(
            "DELETE FROM header_field WHERE jar_id = ? AND name = ? AND scope = ?"
        ).runCounting(jarID, name, scope) > 0
    }

    /// Copies the fields of another jar whose names and scopes this jar does not use.
    ///
    /// A value that cannot be opened is copied unchanged, and is reported as damaged here, too.
    func take(from otherID: Int64, _ sealer: Sealer) throws {
        let present = try all()
        for row in try HeaderFieldRows(database: database, jarID: otherID).all() {
            let isInUse = present.contains { own in
                own.scope == row.scope && own.name.lowercased() == row.name.lowercased()
            }
            guard !isInUse else { continue }
            let value = sealer.open(row.sealed, at: HeaderFieldRows.place(otherID, row.name, row.scope))
            let sealed = try value.map {
                try sealer.seal($0, at: HeaderFieldRows.place(jarID, row.name, row.scope))
            }
            try put(sealed ?? row.sealed.bytes, named: row.name, scope: row.scope)
        }
    }

    /// The context that a value is sealed to: its jar, its name in lower case, and the scope of its URLs.
    static func place(_ jarID: Int64, _ name: String, _ scope: String) -> [UInt8] {
        var place = SealedPlace("header field")
        place.append(jarID)
        place.append(name.lowercased().utf8)
        place.append(scope.utf8)
        return place.bytes
    }
}
