internal import CookieModel
internal import GRDB
internal import OAuth2

/// The `header_field` table: rows in and out, values sealed to jar, name and scope.
struct HeaderFieldRows {
    /// A row with its value as it is stored.
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

    let database: Database
    let jarID: Int64

    /// The fields of a jar: a query with the jar's id as its parameter. Of one name, those for fewer URLs come first.
    static let query = """
        SELECT name, scope, value FROM header_field WHERE jar_id = ? ORDER BY name, length(scope) DESC, scope
        """

    func all() throws -> [Row] {
        try HeaderFieldRows.rows(ofJar: jarID, by: RowStatement(database, HeaderFieldRows.query))
    }

    /// What ``query`` gives for a jar.
    static func rows(ofJar jarID: Int64, by statement: RowStatement) throws -> [Row] {
        defer { statement.reset() }
        statement.bind(1, jarID)
        var rows: [Row] = []
        while try statement.step() {
            rows.append(
                Row(name: statement.text(0), scope: statement.text(1), sealed: Octets(statement.bytes(2))))
        }
        return rows
    }

    /// Keeps a value in the place of the one that was there. The name is written as it is now.
    func put(_ sealed: [UInt8], named name: String, scope: String) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO header_field (jar_id, name, scope, value) VALUES (?, ?, ?, ?)
            ON CONFLICT (jar_id, name, scope) DO UPDATE SET name = excluded.name, value = excluded.value
            """)
        statement.bind(1, jarID)
        statement.bind(2, text: name)
        statement.bind(3, text: scope)
        statement.bind(4, sealed)
        try statement.run()
    }

    /// Forgets a field; whether there was one of that name and scope.
    func delete(named name: String, scope: String) throws -> Bool {
        let statement = try RowStatement(
            database, "DELETE FROM header_field WHERE jar_id = ? AND name = ? AND scope = ?")
        statement.bind(1, jarID)
        statement.bind(2, text: name)
        statement.bind(3, text: scope)
        try statement.run()
        return database.changesCount > 0
    }

    /// Takes over the fields of another jar whose names and scopes are not in use here.
    ///
    /// A value that cannot be opened comes along as it is: it is as damaged here, and is named as that.
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

    /// What a value is sealed to: its jar, its name whatever the case, and the URLs that it is for.
    static func place(_ jarID: Int64, _ name: String, _ scope: String) -> [UInt8] {
        var place = SealedPlace("header field")
        place.append(jarID)
        place.append(name.lowercased().utf8)
        place.append(scope.utf8)
        return place.bytes
    }
}
