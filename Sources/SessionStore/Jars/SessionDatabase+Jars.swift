public import CookieModel
internal import GRDB
internal import GRDBSQLite

extension SessionDatabase {
    /// What is known about a jar without opening its cookies.
    public struct JarSummary: Sendable, Hashable {
        /// The jar's name.
        public let name: String
        /// How many cookies it holds, expired ones that were not yet removed included.
        public let cookieCount: Int
        /// How many of them end with the session.
        public let sessionCookieCount: Int
        /// When the next cookie expires that has not yet; `nil` where none will.
        public let nextExpiry: Timestamp?
        /// When the jar was made.
        public let creation: Timestamp
        /// How many saved sessions it has.
        public let savedSessionCount: Int
        /// Its profile and limits.
        public let settings: JarSettings
    }

    /// The jar of that name, made where it is missing.
    ///
    /// - Parameters:
    ///   - name: 1 to 100 characters, none of them a control character.
    ///   - policy: the rules. Profile and limits are kept with a jar that is made, and those that an existing jar has
    ///     been made with take the place of these.
    public func jar(
        named name: String = "default", policy: CookiePolicy = CookiePolicy(), now: Timestamp
    ) throws(SessionStoreError) -> CookieJar {
        if let jar = try existingJar(named: name, policy: policy) { return jar }
        try write { database in
            try JarRows(database: database).insert(JarSettings(policy), named: name, now: now)
        }
        guard let jar = try existingJar(named: name, policy: policy) else {
            throw SessionStoreError(.jarNotFound, name, "the jar was removed while it was made")
        }
        return jar
    }

    /// The jar of that name, `nil` where there is none; writes nothing.
    ///
    /// - Parameter policy: the rules, but for profile and limits, which are the jar's own.
    public func existingJar(
        named name: String, policy: CookiePolicy = CookiePolicy()
    ) throws(SessionStoreError) -> CookieJar? {
        try SessionStoreError.check(name, of: "jar")
        let found = try SessionStoreError.catching(path) { try jarCache.jar(named: name, in: self) }
        guard let found else { return nil }
        return CookieJar(
            database: self, id: found.id, name: name, policy: found.settings.applied(to: policy),
            hasHeaderFields: found.hasHeaderFields)
    }

    /// All jars, by name.
    public func jars(now: Timestamp) throws(SessionStoreError) -> [JarSummary] {
        try read { database in
            let statement = try RowStatement(
                database,
                """
                SELECT jar.name, count(cookie.name), sum(cookie.name IS NOT NULL AND expires_at IS NULL),
                    min(CASE WHEN expires_at >= ? THEN expires_at END), jar.created_at,
                    (SELECT count(*) FROM snapshot WHERE snapshot.jar_id = jar.id), \(JarRows.settings)
                FROM jar LEFT JOIN cookie ON jar_id = jar.id GROUP BY jar.id ORDER BY jar.name
                """)
            defer { statement.reset() }
            statement.bind(1, now.microseconds)
            var jars: [JarSummary] = []
            while try statement.step() {
                jars.append(
                    JarSummary(
                        name: statement.text(0), cookieCount: Int(statement.int64(1)),
                        sessionCookieCount: Int(statement.int64(2)),
                        nextExpiry: statement.optionalInt64(3).map(Timestamp.init(microseconds:)),
                        creation: Timestamp(microseconds: statement.int64(4)),
                        savedSessionCount: Int(statement.int64(5)),
                        settings: JarRows.settings(statement, from: 6)))
            }
            return jars
        }
    }
}
