public import CookieModel

/// Rows of the `jar` table.
struct JarRows {
    /// The columns of ``JarSettings``.
    static let settings = """
        profile, domain_cookies, total_cookies, partition_cookies, partition_octets, request_cookies, request_octets
        """

    /// The data for opening a jar.
    struct Row: Sendable {
        let id: Int64
        let settings: JarSettings
        /// Whether the jar has header fields, so that a jar without them costs no query.
        let hasHeaderFields: Bool
    }

    /// A jar with its name.
    struct Named: Sendable {
        let id: Int64
        let name: String
        let settings: JarSettings
    }

    let database: Connection

    /// The jar of a name: a query with the name as its parameter.
    static let query = "SELECT \(columns) FROM jar WHERE name = ?"

    /// The columns that ``row(_:from:)`` reads, in a query on `jar`.
    static let columns = "\(settings), id, EXISTS (SELECT 1 FROM header_field WHERE jar_id = jar.id)"

    /// The jar of that name.
    func jar(named name: String) throws -> Row? {
        try database.statement(JarRows.query).first(name) { JarRows.row($0) }
    }

    /// The current row, which has ``columns`` from `column` on.
    static func row(_ statement: Statement, from column: Int32 = 0) -> Row {
        Row(
            id: statement.int64(column + 7), settings: settings(statement, from: column),
            hasHeaderFields: statement.int64(column + 8) != 0)
    }

    /// A jar that must exist.
    func presentJar(named name: String) throws -> Row {
        guard let found = try jar(named: name) else { throw SessionStoreError(noJarNamed: name) }
        return found
    }

    /// Jars that must exist, in the order of the names. No other transaction changes them until this one ends.
    func lockedJars(named names: String...) throws -> [Row] {
        while true {
            let found = try names.map { try presentJar(named: $0) }
            var hasWaited = false
            // All transactions use this order, so that two do not wait for each other.
            for id in found.map(\.id).sorted() where try database.lock(.jar(id)) { hasWaited = true }
            guard hasWaited else { return found }
            // Before the lock was taken, another transaction may have renamed, removed or changed them.
            let locked = try names.map { try presentJar(named: $0) }
            if locked.map(\.id) == found.map(\.id) { return locked }
        }
    }

    /// Throws if a jar of that name exists.
    func expectNone(named name: String) throws {
        guard try jar(named: name) == nil else { throw JarRows.exists(name) }
    }

    private static func exists(_ name: String) -> SessionStoreError {
        SessionStoreError(
            .jarExists, name, "a jar with this name already exists; use another name, or remove that jar first")
    }

    /// Creates a jar.
    ///
    /// - Returns: the jar's id.
    /// - Throws: ``SessionStoreError/Code/jarExists`` if a jar of that name exists.
    func insertNew(_ settings: JarSettings, named name: String, now: Timestamp) throws -> Int64 {
        try expectNone(named: name)
        guard try insert(settings, named: name, now: now) else { throw JarRows.exists(name) }
        return try presentJar(named: name).id
    }

    /// Creates a jar, unless one of that name exists. Call it only after a lookup has found none: a server uses up an
    /// ID for each attempt.
    ///
    /// - Returns: whether it was created.
    @discardableResult
    func insert(_ settings: JarSettings, named name: String, now: Timestamp) throws -> Bool {
        let isMade = try database.statement(
            """
            INSERT INTO jar (\(JarRows.settings), name, created_at, first_change, next_change)
            SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, first, first
            FROM (\(FormerJournal.firstChange)) AS former WHERE true
            ON CONFLICT (name) DO NOTHING RETURNING 1
            """
        ).first(settings, name, now) { _ in true }
        guard isMade == true else { return false }
        // The insertion may have waited for a transaction that removed a jar of that name: a further statement sees how
        // far its journal went.
        try database.statement(
            """
            UPDATE jar SET first_change = first, next_change = first
            FROM (\(FormerJournal.firstChange)) AS former WHERE jar.name = ? AND first_change < first
            """
        ).run(name)
        return true
    }

    /// Changes the settings of a jar.
    func update(_ settings: JarSettings, id: Int64) throws {
        try database.statement(
            """
            UPDATE jar SET profile = ?, domain_cookies = ?, total_cookies = ?, partition_cookies = ?,
                partition_octets = ?, request_cookies = ?, request_octets = ?
            WHERE id = ?
            """
        ).run(settings, id)
    }

    /// Renames a jar.
    func rename(id: Int64, to name: String) throws {
        try FormerJournal(database: database).include(jar: id)
        try database.statement(
            """
            UPDATE jar SET name = ?, first_change = first, next_change = first
            FROM (\(FormerJournal.firstChange)) AS former
            WHERE jar.id = ?
            """
        ).run(name, id)
    }

    /// Removes a jar and its data.
    func delete(id: Int64) throws {
        try FormerJournal(database: database).include(jar: id)
        try ChangeRows(database: database, jarID: id).removeAll()
        try JarSiteRows(database: database).removeAll(ofJar: id)
        try database.statement("DELETE FROM jar WHERE id = ?").run(id)
    }

    /// The tables with rows of a jar, besides those whose rows depend on others and the journal.
    static let tables = [
        "cookie", "web_storage", "header_field", "login_rule", "snapshot", "capture", "rejected_cookie", "jar_undo",
    ]

    /// Whether no row belongs to a jar, and nothing was ever stored in it.
    func isEmpty(id: Int64) throws -> Bool {
        for table in JarRows.tables {
            let row = try database.statement("SELECT 1 FROM \(table) WHERE jar_id = ? LIMIT 1").first(id) { _ in true }
            if row != nil { return false }
        }
        return try ChangeRows(database: database, jarID: id).bounds().map { $0.first == $0.next } ?? false
    }

    /// The content that is removed with a jar.
    func content(id: Int64) throws -> JarRemoval {
        JarRemoval(
            cookies: try CookieRows(database: database, jarID: id).count(), savedSessions: try savedSessionCount(id: id)
        )
    }

    /// How many saved sessions a jar has.
    private func savedSessionCount(id: Int64) throws -> Int {
        try database.statement(
            "SELECT count(*) FROM snapshot WHERE jar_id = ? AND \(SnapshotRows.isNamed)"
        ).first(id) { Int($0.int64(0)) } ?? 0
    }

    /// The next sequence number in the order of creation.
    func nextSequence(id: Int64) throws -> Int64 {
        try ChangeRows(database: database, jarID: id).end().nextSequence
    }

    /// Stores the next sequence number in the order of creation, if the journal does not contain it.
    func setNextSequence(_ sequence: Int64, id: Int64) throws {
        try database.statement("UPDATE jar SET next_sequence = ? WHERE id = ?").run(sequence, id)
    }

    /// Names as one parameter, for `json_each`.
    static func jsonArray(_ names: Set<String>) -> String {
        let quoted = names.map { name in
            let escaped = name.unicodeScalars.map { scalar in
                scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
                    ? "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16) : String(scalar)
            }
            return "\"\(escaped.joined())\""
        }
        return "[\(quoted.joined(separator: ","))]"
    }

    /// The settings of the current row, which has the columns ``settings`` from `column` on.
    static func settings(_ statement: Statement, from column: Int32) -> JarSettings {
        func limit(_ index: Int32) -> Int? { statement.optionalInt64(column + index).map(Int.init) }
        var settings = JarSettings(profile: JarSettings.profile(statement.text(column)))
        settings.limits.domainCookies = limit(1)
        settings.limits.totalCookies = limit(2)
        settings.limits.partitionCookies = limit(3)
        settings.limits.partitionOctets = limit(4)
        settings.limits.requestCookies = limit(5)
        settings.limits.requestOctets = limit(6)
        return settings
    }
}

/// Settings take the seven parameters that ``JarRows/settings`` names.
extension JarSettings: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) {
        profileText.bind(to: statement, at: &index)
        let values = [
            limits.domainCookies, limits.totalCookies, limits.partitionCookies, limits.partitionOctets,
            limits.requestCookies, limits.requestOctets,
        ]
        for value in values { value.bind(to: statement, at: &index) }
    }
}

/// The part of a jar's rules that is stored with it.
public struct JarSettings: Sendable, Hashable {
    /// The divergences from the draft.
    public var profile: CookieProfile
    /// How many cookies the jar keeps, and how many one request carries.
    public var limits: CookieLimits

    /// The settings of a profile, with its limits.
    public init(profile: CookieProfile = .rfc6265bis) {
        self.init(CookiePolicy(profile: profile))
    }

    /// The settings of a policy.
    package init(_ policy: CookiePolicy) {
        profile = policy.profile
        limits = policy.limits
    }

    /// `policy` with these settings.
    package func applied(to policy: CookiePolicy) -> CookiePolicy {
        var policy = policy
        policy.profile = profile
        policy.limits = limits
        return policy
    }

    /// The profile's name, or its flags if it has no name.
    var profileText: String { profile.name ?? String(profile.rawValue) }

    /// Parses ``profileText``. An unknown text, which a newer version may have written, is read as the draft's rules.
    static func profile(_ text: String) -> CookieProfile {
        CookieProfile(name: text) ?? UInt32(text).map(CookieProfile.init(rawValue:)) ?? .rfc6265bis
    }
}
