internal import CookieModel

/// Rows of the `jar_site` table: which jars have cookies of a site.
struct JarSiteRows {
    /// The maximum number of jars that are read for one site.
    static let jarLimit: Int64 = 100

    /// The cookies of a site in other jars, with the jar of each. Newest jars come first, at most ``jarLimit``.
    ///
    /// - Parameter onlyNamed: whether to include only jars whose names are in a JSON array, the fourth parameter.
    static func query(onlyNamed: Bool) -> String {
        let named = "SELECT id FROM jar WHERE name IN (SELECT value FROM json_each(?4))"
        return """
            SELECT \(CookieRows.columns), owner_id, owner_name, \(JarRows.settings)
            FROM (
                SELECT jar.id AS owner_id, jar.name AS owner_name, \(JarRows.settings)
                FROM (
                    SELECT jar_id FROM jar_site
                    WHERE site = ?1 AND jar_id IS DISTINCT FROM (SELECT id FROM jar WHERE name = ?2)
                        \(onlyNamed ? "AND jar_id IN (\(named))" : "")
                    ORDER BY jar_id DESC LIMIT ?3
                ) AS found
                CROSS JOIN jar WHERE jar.id = found.jar_id
            ) AS owner
            CROSS JOIN cookie WHERE cookie.jar_id = owner_id AND cookie.site = ?1
            """
    }

    let database: Connection

    /// Records whether a jar has cookies of a site, after a change that may have added the first or removed the last
    /// one.
    func refresh(site: Octets, jarID: Int64) throws {
        let hasCookies = try database.statement("SELECT EXISTS (SELECT 1 FROM cookie WHERE jar_id = ?2 AND site = ?1)")
            .first(site, jarID) { $0.int64(0) != 0 }
        try database.statement(
            hasCookies == true
                ? "INSERT INTO jar_site (site, jar_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
                : "DELETE FROM jar_site WHERE site = ?1 AND jar_id = ?2"
        ).run(site, jarID)
    }

    /// Removes the rows of a jar that is about to be removed with its cookies.
    func removeAll(ofJar id: Int64) throws {
        try database.statement(
            """
            DELETE FROM jar_site
            WHERE jar_id = ?1 AND site IN (SELECT DISTINCT site FROM cookie WHERE jar_id = ?1)
            """
        ).run(id)
    }

    /// Calls `body` with each cookie of a site in all jars except one, and with its jar.
    ///
    /// - Parameter names: a JSON array of the names of the only jars to include; `nil` for all jars.
    func forEachCookie(
        of site: Octets, besides jar: String, named names: String?, _ body: (JarRows.Named, Cookie) throws -> Void
    ) throws {
        let order = database.traits.joinsInOrder ? "" : " ORDER BY owner_id DESC"
        let statement = try database.statement(JarSiteRows.query(onlyNamed: names != nil) + order)
        try statement.forEach(site, jar, JarSiteRows.jarLimit, names) { row in
            let jar = JarRows.Named(
                id: row.int64(13), name: row.text(14), settings: JarRows.settings(row, from: 15))
            try body(jar, CookieRows.cookie(row))
        }
    }
}
