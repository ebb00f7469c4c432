internal import CookieModel

/// A table with sealed values. It is read in pages and written back value by value.
enum SealedTable: CaseIterable {
    case cookies
    case savedCookies
    case tokens
    case headerFields
    case webStorage
    case authority

    /// The end of a page.
    enum Position {
        case cookie(jarID: Int64, snapshotID: Int64?, site: Octets, id: Cookie.ID)
        case token(Int64)
        case headerField(jarID: Int64, name: String, scope: String)
        case storage(jarID: Int64, snapshotID: Int64, origin: String, key: Octets)
        case authority
    }

    /// The name of a row's jar, which may have been removed.
    static let jarName = "(SELECT coalesce(removed_name, name) FROM jar WHERE id = jar_id) AS jar_name"

    /// The values of at most `limit` rows after `position`, and the end of the page; the latter is `nil` for a page
    /// without rows.
    ///
    /// - Parameter keyID: if given, only rows with values under other keys than this one are read.
    func page(
        _ database: Connection, after position: Position?, limit: Int, notUnder keyID: UInt32? = nil
    ) throws -> (values: [SealedValue], end: Position?) {
        switch self {
        case .cookies, .savedCookies: try cookiePage(database, after: position, limit: limit, notUnder: keyID)
        case .tokens: try tokenPage(database, after: position, limit: limit, notUnder: keyID)
        case .headerFields: try headerFieldPage(database, after: position, limit: limit, notUnder: keyID)
        case .webStorage: try webStoragePage(database, after: position, limit: limit, notUnder: keyID)
        case .authority: try authorityPage(database, after: position, notUnder: keyID)
        }
    }

    /// Every value of the table.
    func forEach(
        _ database: Connection, notUnder keyID: UInt32? = nil, _ body: (SealedValue) throws -> Void
    ) throws {
        var position: Position?
        repeat {
            let page = try page(database, after: position, limit: 500, notUnder: keyID)
            for value in page.values { try body(value) }
            position = page.end
        } while position != nil
    }

    /// Replaces the value that was read, unless it was changed meanwhile.
    static func write(_ sealed: [UInt8], to value: SealedValue, _ database: Connection) throws {
        switch value.key {
        case .token(let id, let column):
            try database.statement(
                "UPDATE token_profile SET \(column.columnName) = ? WHERE id = ? AND \(column.columnName) = ?"
            ).run(sealed, id, value.sealed)
        case .headerField(let jarID, let name, let scope):
            try database.statement(
                "UPDATE header_field SET value = ? WHERE jar_id = ? AND name = ? AND scope = ? AND value = ?"
            ).run(sealed, jarID, name, scope, value.sealed)
        case .storage(let jarID, let snapshotID, let origin, let key):
            try database.statement(
                """
                UPDATE web_storage SET value = ?5
                WHERE jar_id = ?1 AND snapshot_id = ?2 AND origin = ?3 AND key = ?4 AND value = ?6
                """
            ).run(jarID, snapshotID, origin, key, sealed, value.sealed)
        case .authority:
            try AuthorityRow(database: database).replaceKey(with: sealed, insteadOf: value.sealed)
        case .cookie(let jarID, let snapshotID, let site, let id):
            let (table, condition) = snapshotID == nil ? ("cookie", "") : ("snapshot_cookie", "AND snapshot_id = ?9")
            try database.statement(
                """
                UPDATE \(table) SET value = ?8 WHERE \(CookieRows.isCookie) AND value = ?10 \(condition)
                """
            ).run(jarID, site, id, sealed, snapshotID, value.sealed)
        }
    }

    /// SQL for "the value is not sealed under the key of this number".
    static func condition(_ column: String, notUnder keyID: UInt32?) -> String {
        guard let keyID else { return "true" }
        let digits = String(keyID, radix: 16)
        let hexadecimal = String(repeating: "0", count: 8 - digits.count) + digits
        return "substr(\(column), 1, 5) IS DISTINCT FROM x'01\(hexadecimal)'"
    }

    private func cookiePage(
        _ database: Connection, after position: Position?, limit: Int, notUnder keyID: UInt32?
    ) throws -> (values: [SealedValue], end: Position?) {
        let isSaved = self == .savedCookies
        let identity = CookieColumns.list(CookieColumns.identity)
        let (key, start) = isSaved ? ("jar_id, snapshot_id", "?1, ?9") : ("jar_id", "?1")
        let after = position == nil ? "true" : "(\(key), \(identity)) > (\(start), ?2, ?3, ?4, ?5, ?6, ?7)"
        let owner = "(SELECT name FROM snapshot WHERE snapshot.jar_id = saved.jar_id AND id = snapshot_id)"
        let statement = try database.statement(
            """
            SELECT jar_id, site, \(CookieRows.columns), \(SealedTable.jarName),
                \(isSaved ? "snapshot_id, \(owner)" : "NULL, NULL") AS owner_name
            FROM \(isSaved ? "snapshot_cookie AS saved" : "cookie")
            WHERE \(after) AND \(SealedTable.condition("value", notUnder: keyID))
            ORDER BY \(key), \(identity) LIMIT ?8
            """)
        if case .cookie(let jarID, let snapshotID, let site, let id) = position {
            statement.bindAll(jarID, site, id, limit, snapshotID)
        } else {
            statement.bind(8, Int64(limit))
        }
        let values = try statement.rows { cookieValue($0) }
        guard let last = values.last, case .cookie(let jarID, let snapshotID, let site, let id) = last.key else {
            return ([], nil)
        }
        return (values, .cookie(jarID: jarID, snapshotID: snapshotID, site: site, id: id))
    }

    private func cookieValue(_ statement: Statement) -> SealedValue {
        let cookie = CookieRows.cookie(statement, from: 2)
        let next = Int32(2 + CookieColumns.ofCookie.count)
        let location = SealedValueLocation(
            kind: self == .savedCookies ? .savedCookie : .cookie,
            jar: statement.isNull(next) ? nil : statement.text(next),
            owner: statement.isNull(next + 2) ? nil : statement.text(next + 2), domain: cookie.domain.octets,
            path: cookie.path, name: cookie.name)
        let jarID = statement.int64(0)
        let key = SealedValue.Key.cookie(
            jarID: jarID, snapshotID: statement.optionalInt64(next + 1), site: Octets(statement.bytes(1)),
            id: cookie.id)
        return SealedValue(
            key: key, location: location, place: cookie.sealedPlace(jarID: JarBinRows.formerID(jarID)),
            sealed: cookie.value)
    }

    private func tokenPage(
        _ database: Connection, after position: Position?, limit: Int, notUnder keyID: UInt32?
    ) throws -> (values: [SealedValue], end: Position?) {
        let columns = TokenRows.SealedColumn.allCases
        let names = columns.map(\.columnName)
        let conditions = names.map { "\($0) IS NOT NULL AND \(SealedTable.condition($0, notUnder: keyID))" }
        let statement = try database.statement(
            """
            SELECT id, name, \(names.joined(separator: ", ")) FROM token_profile
            WHERE id > ?1 AND (\(conditions.joined(separator: " OR "))) ORDER BY id LIMIT ?2
            """)
        defer { statement.reset() }
        if case .token(let id) = position { statement.bindAll(id, limit) } else { statement.bindAll(Int64.min, limit) }
        var values: [SealedValue] = []
        var end: Position?
        while try statement.step() {
            let id = statement.int64(0)
            end = .token(id)
            for (index, column) in columns.enumerated() where !statement.isNull(Int32(index) + 2) {
                let sealed = Octets(statement.bytes(Int32(index) + 2))
                if let keyID, Sealer.keyID(of: sealed) == keyID { continue }
                values.append(
                    SealedValue(
                        key: .token(id: id, column: column),
                        location: SealedValueLocation(
                            kind: .token, jar: nil, owner: statement.text(1), domain: [], path: [],
                            name: Octets(column.rawValue)),
                        place: TokenRows.place(id, column), sealed: sealed))
            }
        }
        return (values, end)
    }
}

/// A stored value with the context that it is sealed to.
struct SealedValue {
    /// The row and column, to which the value is written back.
    enum Key {
        case cookie(jarID: Int64, snapshotID: Int64?, site: Octets, id: Cookie.ID)
        case token(id: Int64, column: TokenRows.SealedColumn)
        case headerField(jarID: Int64, name: String, scope: String)
        case storage(jarID: Int64, snapshotID: Int64, origin: String, key: Octets)
        case authority

        /// The jar that the row belongs to; `nil` for none.
        var jarID: Int64? {
            switch self {
            case .cookie(let jarID, _, _, _), .headerField(let jarID, _, _), .storage(let jarID, _, _, _): jarID
            case .token, .authority: nil
            }
        }
    }

    let key: Key
    let location: SealedValueLocation
    let place: [UInt8]
    let sealed: Octets
}
