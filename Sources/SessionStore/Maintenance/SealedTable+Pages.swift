internal import CookieModel

extension SealedTable {
    /// The values of the header fields after `position`.
    func headerFieldPage(
        _ database: Connection, after position: Position?, limit: Int, notUnder keyID: UInt32?
    ) throws -> (values: [SealedValue], end: Position?) {
        let after = position == nil ? "true" : "(jar_id, name, scope) > (?1, ?2, ?3)"
        let statement = try database.statement(
            """
            SELECT jar_id, name, scope, value, \(SealedTable.jarName) FROM header_field
            WHERE \(after) AND \(SealedTable.condition("value", notUnder: keyID))
            ORDER BY jar_id, name, scope LIMIT ?4
            """)
        defer { statement.reset() }
        if case .headerField(let jarID, let name, let scope) = position {
            statement.bindAll(jarID, name, scope, limit)
        } else {
            statement.bind(4, Int64(limit))
        }
        var values: [SealedValue] = []
        var end: Position?
        while try statement.step() {
            let (jarID, name, scope) = (statement.int64(0), statement.text(1), statement.text(2))
            end = .headerField(jarID: jarID, name: name, scope: scope)
            values.append(
                SealedValue(
                    key: .headerField(jarID: jarID, name: name, scope: scope),
                    location: SealedValueLocation(
                        kind: .headerField, jar: statement.isNull(4) ? nil : statement.text(4),
                        owner: scope.isEmpty ? nil : scope, domain: [], path: [], name: Octets(name)),
                    place: HeaderFieldRows.place(JarBinRows.formerID(jarID), name, scope),
                    sealed: Octets(statement.bytes(3))))
        }
        return (values, end)
    }

    /// The items of web storage after `position`, including those of saved sessions.
    func webStoragePage(
        _ database: Connection, after position: Position?, limit: Int, notUnder keyID: UInt32?
    ) throws -> (values: [SealedValue], end: Position?) {
        let after = position == nil ? "true" : "(jar_id, snapshot_id, origin, key) > (?1, ?2, ?3, ?4)"
        let statement = try database.statement(
            """
            SELECT jar_id, snapshot_id, origin, key, value, \(SealedTable.jarName)
            FROM web_storage
            WHERE \(after) AND \(SealedTable.condition("value", notUnder: keyID))
            ORDER BY jar_id, snapshot_id, origin, key LIMIT ?5
            """)
        defer { statement.reset() }
        if case .storage(let jarID, let snapshotID, let origin, let key) = position {
            statement.bindAll(jarID, snapshotID, origin, key, limit)
        } else {
            statement.bind(5, Int64(limit))
        }
        var values: [SealedValue] = []
        var end: Position?
        while try statement.step() {
            let (jarID, snapshotID, origin) = (statement.int64(0), statement.int64(1), statement.text(2))
            let key = Octets(statement.bytes(3))
            end = .storage(jarID: jarID, snapshotID: snapshotID, origin: origin, key: key)
            values.append(
                SealedValue(
                    key: .storage(jarID: jarID, snapshotID: snapshotID, origin: origin, key: key),
                    location: SealedValueLocation(
                        kind: .webStorage, jar: statement.isNull(5) ? nil : statement.text(5), owner: origin,
                        domain: [], path: [], name: key),
                    place: WebStorageRows.place(JarBinRows.formerID(jarID), origin, key),
                    sealed: Octets(statement.bytes(4))))
        }
        return (values, end)
    }

    /// The private key of the gateway's authority, on a page of its own.
    func authorityPage(
        _ database: Connection, after position: Position?, notUnder keyID: UInt32?
    ) throws -> (values: [SealedValue], end: Position?) {
        guard position == nil, let row = try AuthorityRow(database: database).read(),
            keyID == nil || Sealer.keyID(of: row.sealedKey) != keyID
        else { return ([], nil) }
        let location = SealedValueLocation(
            kind: .authority, jar: nil, owner: row.hosts, domain: [], path: [], name: "private key")
        return ([SealedValue(key: .authority, location: location, place: row.place, sealed: row.sealedKey)], .authority)
    }
}
