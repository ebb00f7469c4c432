public import CookieModel

/// Finding jars.
extension SessionDatabase {
    /// A summary of a jar that does not require opening its cookies.
    public struct JarSummary: Sendable, Hashable {
        /// The jar's name.
        public let name: String
        /// How many cookies it has, including expired ones that were not removed yet.
        public let cookieCount: Int
        /// How many of them end with the session.
        package let sessionCookieCount: Int
        /// The next expiry of a cookie; `nil` if no cookie will expire.
        package let nextExpiry: Timestamp?
        /// When the jar was created.
        package let creation: Timestamp
        /// How many saved sessions it has.
        package let savedSessionCount: Int
        /// Its profile and limits.
        public let settings: JarSettings
    }

    /// The jar of that name. Creates it if it is missing.
    ///
    /// - Parameters:
    ///   - name: 1 to 100 characters, none of them a control character.
    ///   - policy: the rules. A created jar stores their profile and limits. For an existing jar, its own profile and
    ///     limits apply instead.
    public func jar(
        named name: String = "default", policy: CookiePolicy = CookiePolicy(), now: Timestamp? = nil
    ) throws(SessionStoreError) -> CookieJar {
        if let jar = try existingJar(named: name, policy: policy) { return jar }
        _ = try write(.changedRows) { database in
            try JarRows(database: database).insert(JarSettings(policy), named: name, now: now ?? clock.now)
        }
        guard let jar = try existingJar(named: name, policy: policy) else {
            throw SessionStoreError(.jarNotFound, name, "the jar was removed while it was being created")
        }
        return jar
    }

    /// The jar of that name; `nil` if it does not exist. Writes nothing.
    ///
    /// - Parameter policy: the rules, except for profile and limits, which are the jar's own.
    public func existingJar(
        named name: String, policy: CookiePolicy = CookiePolicy()
    ) throws(SessionStoreError) -> CookieJar? {
        try existingJar(named: name, policy: policy, in: nil)
    }

    /// The same, for reads that begin before the caller writes anything.
    ///
    /// - Parameter state: the state that was committed when the caller began; `nil` to query it.
    package func existingJar(
        named name: String, policy: CookiePolicy, in state: CommittedState?
    ) throws(SessionStoreError) -> CookieJar? {
        try SessionStoreError.check(name, of: "jar")
        let state = state?.isOfJar(named: name) == true ? state : nil
        let found =
            if let state { state.jar?.row } else {
                try SessionStoreError.catching(path) { try jarCache.jar(named: name, in: self) }
            }
        return found.map { CookieJar($0, named: name, in: self, policy: policy, state: state) }
    }

    /// All jars, by name. Reads every cookie's row.
    public func jars(now: Timestamp? = nil) throws(SessionStoreError) -> [JarSummary] {
        try jars(limit: .max, now: now ?? clock.now)
    }

    /// Returns a page of jars, by name. The time depends on the jars of the page and their cookies only; with `text`,
    /// also on the names before the end of the page.
    ///
    /// - Parameters:
    ///   - name: the last name of the previous page; `nil` for the first page.
    ///   - limit: the maximum number of jars in a page.
    ///   - names: the names of the only jars to include; `nil` for all jars.
    ///   - text: a text that the names contain, ignoring the case of ASCII letters; empty for any name.
    ///   - now: the time that decides which cookies have expired.
    package func jars(
        after name: String? = nil, limit: Int, named names: Set<String>? = nil, matching text: String = "",
        now: Timestamp
    ) throws(SessionStoreError) -> [JarSummary] {
        // The sign keeps SQLite from reading all jars in the order of their IDs.
        var conditions = ["+id > 0"]
        if name != nil { conditions.append("name > ?2") }
        if names != nil { conditions.append("name IN (SELECT value FROM json_each(?4))") }
        if !text.isEmpty { conditions.append("instr(lower(name), lower(?5)) > 0") }
        return try read { database in
            try database.statement(
                """
                SELECT jar.name, count(cookie.name), count(cookie.name) FILTER (WHERE expires_at IS NULL),
                    min(CASE WHEN expires_at >= ?1 THEN expires_at END), jar.created_at,
                    (SELECT count(*) FROM snapshot WHERE snapshot.jar_id = jar.id AND \(SnapshotRows.isNamed)),
                    \(JarRows.settings)
                FROM (
                    SELECT id FROM jar WHERE \(conditions.joined(separator: " AND "))
                    ORDER BY name LIMIT ?3
                ) AS page
                CROSS JOIN jar LEFT JOIN cookie ON jar_id = jar.id
                WHERE jar.id = page.id
                GROUP BY jar.id ORDER BY jar.name
                """
            ).rows(now, name, limit, names.map(JarRows.jsonArray), text) { row in
                JarSummary(
                    name: row.text(0), cookieCount: Int(row.int64(1)), sessionCookieCount: Int(row.int64(2)),
                    nextExpiry: row.optionalTimestamp(3), creation: row.timestamp(4),
                    savedSessionCount: Int(row.int64(5)), settings: JarRows.settings(row, from: 6))
            }
        }
    }

    /// The cookies of one site in one jar.
    package struct SiteSummary: Sendable, Hashable {
        /// The registrable domain.
        package let site: Octets
        /// The jar's name.
        package let jar: String
        /// The jar's number, by which the jars of a site are ordered.
        package let jarID: Int64
        /// How many cookies there are, expired ones that were not yet removed included.
        package let cookieCount: Int
        /// The next expiry of a cookie; `nil` if no cookie will expire.
        package let nextExpiry: Timestamp?
        /// When a cookie was last used.
        package let lastUse: Timestamp
    }

    /// Returns a page of the sites of the jars, by site. The time depends on the cookies of the page only; with `names`,
    /// also on the number of sites of other jars before the end of the page.
    ///
    /// - Parameters:
    ///   - site: the site that the last page ended with, and the jar's number; empty for the first page.
    ///   - limit: how many sites a page has at most; a site counts once for each jar.
    ///   - names: the names of the only jars that count; `nil` for all jars.
    ///   - now: the time at which cookies have expired or not.
    package func sites(
        after site: Octets, _ jarID: Int64, limit: Int, named names: Set<String>? = nil, now: Timestamp
    ) throws(SessionStoreError) -> [SiteSummary] {
        let named =
            names == nil ? "" : "AND jar_id IN (SELECT id FROM jar WHERE name IN (SELECT value FROM json_each(?5)))"
        return try read { database in
            let statement = try database.statement(
                """
                SELECT page.site, page.jar_id, jar.name, count(cookie.name),
                    min(CASE WHEN expires_at >= ?1 THEN expires_at END), max(last_access_at)
                FROM (
                    SELECT site, jar_id FROM jar_site WHERE site >= ?2 AND (site > ?2 OR jar_id > ?3) \(named)
                    ORDER BY site, jar_id LIMIT ?4
                ) AS page
                CROSS JOIN jar CROSS JOIN cookie
                WHERE jar.id = page.jar_id AND cookie.jar_id = page.jar_id AND cookie.site = page.site
                GROUP BY page.site, page.jar_id, jar.name ORDER BY page.site, page.jar_id
                """)
            defer { statement.reset() }
            statement.bind(1, now.microseconds)
            statement.bind(2, site)
            statement.bind(3, jarID)
            statement.bind(4, Int64(limit))
            if let names { statement.bind(5, text: JarRows.jsonArray(names)) }
            var sites: [SiteSummary] = []
            while try statement.step() {
                sites.append(
                    SiteSummary(
                        site: Octets(statement.bytes(0)), jar: statement.text(2), jarID: statement.int64(1),
                        cookieCount: Int(statement.int64(3)),
                        nextExpiry: statement.optionalInt64(4).map(Timestamp.init(microseconds:)),
                        lastUse: Timestamp(microseconds: statement.int64(5))))
            }
            return sites
        }
    }

    /// Returns the cookies that other jars would send with a request: newest jars first, at most 100 jars that have
    /// cookies of the request's site.
    ///
    /// It runs one statement, whose time does not depend on the jars without cookies of that site. It records no
    /// access.
    ///
    /// - Parameters:
    ///   - name: the jar to leave out.
    ///   - names: the names of the only jars to include; `nil` for all jars.
    ///   - policy: the rules, except for profile and limits, which are each jar's own.
    package func retrievals(
        for context: RequestContext, besides name: String, named names: Set<String>? = nil,
        policy: CookiePolicy = CookiePolicy(), now: Timestamp
    ) throws(SessionStoreError) -> [(jar: String, retrieval: Retrieval)] {
        let site = context.url.host.registrableDomain(policy.publicSuffixes)
        var found: [(jar: JarRows.Named, cookies: [Cookie])] = []
        let sealer = try read { database in
            found = []
            try JarSiteRows(database: database).forEachCookie(
                of: site, besides: name, named: names.map(JarRows.jsonArray)
            ) { jar, cookie in
                if found.last?.jar.id != jar.id { found.append((jar, [])) }
                found[found.count - 1].cookies.append(cookie)
            }
            return self.sealer
        }
        return found.map { jar, cookies in
            let retrieval = jar.settings.applied(to: policy).retrieval(from: cookies, for: context, now: now) {
                sealer.open($0.value, at: $0.sealedPlace(jarID: jar.id))
            }
            return (jar.name, retrieval)
        }
    }
}
