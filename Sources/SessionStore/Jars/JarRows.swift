internal import CookieModel
internal import GRDB

/// The `jar` table: rows in and out.
struct JarRows {
    private static let settings = """
        profile, domain_cookies, total_cookies, partition_cookies, partition_octets, request_cookies, request_octets
        """

    let database: Database

    /// The id and settings of the jar of that name.
    func jar(named name: String) throws -> (id: Int64, settings: JarSettings)? {
        let statement = try RowStatement(database, "SELECT \(JarRows.settings), id FROM jar WHERE name = ?")
        defer { statement.reset() }
        statement.bind(1, text: name)
        guard try statement.step() else { return nil }
        var settings = JarSettings(profile: JarSettings.profile(statement.text(0)))
        settings.limits.domainCookies = statement.optionalInt64(1).map(Int.init)
        settings.limits.totalCookies = statement.optionalInt64(2).map(Int.init)
        settings.limits.partitionCookies = statement.optionalInt64(3).map(Int.init)
        settings.limits.partitionOctets = statement.optionalInt64(4).map(Int.init)
        settings.limits.requestCookies = statement.optionalInt64(5).map(Int.init)
        settings.limits.requestOctets = statement.optionalInt64(6).map(Int.init)
        return (statement.int64(7), settings)
    }

    /// Makes a jar, unless there is one of that name already.
    func insert(_ settings: JarSettings, named name: String, now: Timestamp) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO jar (\(JarRows.settings), name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO NOTHING
            """)
        bind(settings, to: statement)
        statement.bind(8, text: name)
        statement.bind(9, now.microseconds)
        try statement.run()
    }

    /// Gives a jar other settings.
    func update(_ settings: JarSettings, id: Int64) throws {
        let statement = try RowStatement(
            database,
            """
            UPDATE jar SET profile = ?, domain_cookies = ?, total_cookies = ?, partition_cookies = ?,
                partition_octets = ?, request_cookies = ?, request_octets = ?
            WHERE id = ?
            """)
        bind(settings, to: statement)
        statement.bind(8, id)
        try statement.run()
    }

    /// The next place in the order of creation.
    func nextSequence(id: Int64) throws -> Int64 {
        let statement = try RowStatement(database, "SELECT next_sequence FROM jar WHERE id = ?")
        defer { statement.reset() }
        statement.bind(1, id)
        return try statement.step() ? statement.int64(0) : 1
    }

    /// Keeps the next place in the order of creation.
    func setNextSequence(_ sequence: Int64, id: Int64) throws {
        let statement = try RowStatement(database, "UPDATE jar SET next_sequence = ? WHERE id = ?")
        statement.bind(1, sequence)
        statement.bind(2, id)
        try statement.run()
    }

    private func bind(_ settings: JarSettings, to statement: RowStatement) {
        statement.bind(1, text: settings.profileText)
        statement.bind(2, settings.limits.domainCookies.map(Int64.init))
        statement.bind(3, settings.limits.totalCookies.map(Int64.init))
        statement.bind(4, settings.limits.partitionCookies.map(Int64.init))
        statement.bind(5, settings.limits.partitionOctets.map(Int64.init))
        statement.bind(6, settings.limits.requestCookies.map(Int64.init))
        statement.bind(7, settings.limits.requestOctets.map(Int64.init))
    }
}
