internal import CookieModel

/// A jar, or the rows that belong to no jar, after they were copied to another database.
package struct MovedPart: Sendable, Hashable {
    /// The name of the jar; `nil` for tokens, access tokens and the gateway's authority.
    package let jar: String?
    /// The number of rows, and how many of them are cookies.
    package let rows: Int
    package let cookies: Int
    /// The digest of the rows, which is the same in both databases.
    package let digest: String
    /// Whether an earlier call has copied it.
    package let wasThere: Bool

    fileprivate init(_ jar: String?, _ digest: MovedDigest, wasThere: Bool) {
        self.jar = jar
        rows = digest.rows
        cookies = digest.cookies
        self.digest = digest.text
        self.wasThere = wasThere
    }
}

extension SessionDatabase {
    /// Copies jars of another database to this one, from a file to a server or back. IDs and sealed values do not
    /// change, so both databases must have the same key.
    ///
    /// Each jar is one transaction, which compares the digests of the rows that it has read and written before it
    /// commits. A jar that an earlier call has copied is only compared, so an interrupted move can be continued. All
    /// jars are read from one state of the source.
    ///
    /// - Parameters:
    ///   - source: the database with the jars. It is not changed.
    ///   - jars: the names of the jars; `nil` for all jars and the rows that belong to no jar.
    ///   - progress: receives each part after it was copied.
    /// - Throws: ``SessionStoreError/Code/jarNotFound``; ``SessionStoreError/Code/jarExists`` if another jar has the
    ///   name or an ID here; ``SessionStoreError/Code/keyWrong`` if the ID of a key of the source belongs to another
    ///   key here.
    package func copy(
        from source: SessionDatabase, jars: [String]? = nil, progress: (_ part: MovedPart, _ total: Int) -> Void
    ) throws(SessionStoreError) {
        try source.read { connection in
            let all = try MovedTable.jars(connection)
            if let missing = jars?.first(where: { name in !all.contains { $0.name.isSameName(as: name) } }) {
                throw SessionStoreError(noJarNamed: missing)
            }
            let chosen = all.filter { jar in jars?.contains { $0.isSameName(as: jar.name) } ?? true }
            let total = chosen.count + (jars == nil ? 1 : 0)
            try copyKeys(from: source, connection)
            for jar in chosen {
                progress(try copyJar(jar, from: connection), total)
            }
            if jars == nil { progress(try copyRest(from: connection), total) }
        }
    }

    /// Adds the keys that values of the source are sealed under.
    private func copyKeys(from source: SessionDatabase, _ connection: Connection) throws {
        let theirs = try SealingKeyRows(database: connection).all()
        let keys = try source.keyRing.source.load(mayCreate: false)
        try moving { target in
            let rows = SealingKeyRows(database: target)
            let ours = try rows.all()
            for row in theirs {
                guard let mine = ours.first(where: { $0.id == row.id }) else {
                    try rows.insert(row)
                    continue
                }
                guard keys.contains(where: { mine.isSealed(under: $0) && row.isSealed(under: $0) }) else {
                    throw SessionStoreError(
                        .keyWrong, path, "the two databases are sealed with different keys; use a key file with both")
                }
            }
        }
    }

    private func copyJar(_ jar: (id: Int64, name: String), from source: Connection) throws -> MovedPart {
        let digest = try MovedDigest(source, jarID: jar.id)
        var wasThere = false
        try moving { target in
            if let there = try JarRows(database: target).jar(named: jar.name) {
                guard try there.id == jar.id && MovedDigest(target, jarID: jar.id) == digest else {
                    throw SessionStoreError(
                        .jarExists, jar.name, "a different jar with this name already exists in \(path)")
                }
                wasThere = true
                return
            }
            for table in MovedTable.ofJars {
                try checkIDs(of: table, jar, source, target)
                try table.copy(from: source, to: target, jarID: jar.id)
            }
            try checkCopy(MovedDigest(target, jarID: jar.id) == digest, jar.name)
        }
        return MovedPart(jar.name, digest, wasThere: wasThere)
    }

    /// Checks that the IDs of the jars are free. They cannot change, because sealed values are bound to them.
    private func checkIDs(
        of table: MovedTable, _ jar: (id: Int64, name: String), _ source: Connection, _ target: Connection
    ) throws {
        guard table.hasID else { return }
        try table.forEach(source, jarID: jar.id) { row in
            // A removed jar has the negative of its id.
            let count = try target.statement("SELECT count(*) FROM \(table.name) WHERE id IN (?, ?)")
                .returnedNumber(row.int64(0), -row.int64(0))
            guard count == 0 else {
                throw SessionStoreError(
                    .jarExists, jar.name,
                    "an id of this jar belongs to another one in \(path); a jar keeps its ids when it moves")
            }
        }
    }

    private func copyRest(from source: Connection) throws -> MovedPart {
        let digest = try MovedDigest(source, jarID: nil)
        var wasThere = false
        try moving { target in
            let there = try MovedDigest(target, jarID: nil)
            if there == digest {
                wasThere = there.rows > 0
                return
            }
            guard there.rows == 0 else {
                throw SessionStoreError(
                    .fileExists, path,
                    "the database already has other tokens, access tokens or a gateway's authority; name the jars to "
                        + "copy only these")
            }
            for table in MovedTable.ofDatabases { try table.copy(from: source, to: target, jarID: nil) }
            try checkCopy(MovedDigest(target, jarID: nil) == digest, "tokens")
            // Processes that cache these rows read them again.
            try target.statement("UPDATE service_token_generation SET generation = generation + 1").run()
        }
        return MovedPart(nil, digest, wasThere: wasThere)
    }

    private func checkCopy(_ isEqual: Bool, _ subject: String) throws {
        guard isEqual else {
            throw SessionStoreError(.databaseFailed, subject, "the copy differs from the original; nothing was stored")
        }
    }

    /// Runs a transaction that inserts rows with IDs. Afterwards, new rows get higher IDs.
    private func moving(_ body: (Connection) throws -> Void) throws {
        try SessionStoreError.catching(path) {
            try engine.writeAlone { connection in
                try body(connection)
                try connection.raiseNextIDs()
            }
        }
    }
}

extension MovedTable {
    /// The jars of a database by name.
    fileprivate static func jars(_ database: Connection) throws -> [(id: Int64, name: String)] {
        try database.statement("SELECT id, name FROM jar WHERE id > 0 ORDER BY name").rows { ($0.int64(0), $0.text(1)) }
    }
}
