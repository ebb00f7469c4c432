internal import CookieModel
internal import Synchronization

/// The jars in memory, with their login rules and header fields. The cache reads a jar again after any process has
/// removed or renamed it, or has changed its settings, rules or fields.
///
/// The first question opens no connection.
final class JarCache: Sendable {
    private struct Contents: Sendable {
        /// The jars by the octets of their names.
        var jars: [Octets: JarRows.Row] = [:]
        var loginRules: [Int64: [(name: String, definition: String)]] = [:]
        /// The header fields by the jar's ID, with sealed values.
        var headerFields: [Int64: [HeaderFieldRows.Row]] = [:]
    }

    private struct Statements {
        let jar: Statement
        let loginRules: Statement
        let headerFields: Statement
    }

    private let memory = CommittedMemory<Contents, Statements>(Contents()) { connection in
        Statements(
            jar: try connection.prepare(JarRows.query), loginRules: try connection.prepare(LoginRuleRows.query),
            headerFields: try connection.prepare(HeaderFieldRows.query))
    }
    private let hasBeenAsked = Atomic(false)

    /// Closes the connection: the last one to be closed must be able to write.
    func close() {
        memory.close()
        hasBeenAsked.store(false, ordering: .relaxed)
    }

    /// The jar of that name in its last committed state; `nil` if it does not exist.
    func jar(named name: String, in database: SessionDatabase) throws -> JarRows.Row? {
        guard database.engine.isOnDisk, hasBeenAsked.exchange(true, ordering: .relaxed) else {
            return try database.read { try JarRows(database: $0).jar(named: name) }
        }
        return try memory.ask(database.engine, trustsFile: true) { contents, statements, isCurrent in
            if !isCurrent { contents = Contents() }
            let key = Octets(name)
            if let known = contents.jars[key] { return known }
            let found = try statements.jar.first(name) { JarRows.row($0) }
            contents.jars[key] = found
            return found
        }
    }

    /// The jar of that name, if it is in memory in its last committed state.
    func jarInMemory(named name: String, in database: SessionDatabase) throws -> JarRows.Row? {
        let key = Octets(name)
        return try memory.askAtOnce(database.engine) { $0.jars[key] }
    }

    /// The definitions of a jar's login rules, if they are in memory in their last committed state.
    func loginRulesInMemory(
        ofJar id: Int64, in database: SessionDatabase
    ) throws -> [(name: String, definition: String)]? {
        try memory.askAtOnce(database.engine) { $0.loginRules[id] }
    }

    /// A jar's header fields, if they are in memory in their last committed state.
    func headerFieldsInMemory(ofJar id: Int64, in database: SessionDatabase) throws -> [HeaderFieldRows.Row]? {
        try memory.askAtOnce(database.engine) { $0.headerFields[id] }
    }

    /// The definitions of a jar's login rules by name, in their last committed state.
    func loginRules(ofJar id: Int64, in database: SessionDatabase) throws -> [(name: String, definition: String)] {
        guard database.engine.isOnDisk else {
            return try database.read { try LoginRuleRows(database: $0, jarID: id).all() }
        }
        return try memory.ask(database.engine) { contents, statements, isCurrent in
            if !isCurrent { contents = Contents() }
            if let known = contents.loginRules[id] { return known }
            let found = try LoginRuleRows.rules(ofJar: id, by: statements.loginRules)
            contents.loginRules[id] = found
            return found
        }
    }

    /// A jar's header fields by name, with sealed values, in their last committed state.
    func headerFields(ofJar id: Int64, in database: SessionDatabase) throws -> [HeaderFieldRows.Row] {
        guard database.engine.isOnDisk else {
            return try database.read { try HeaderFieldRows(database: $0, jarID: id).all() }
        }
        return try memory.ask(database.engine) { contents, statements, isCurrent in
            if !isCurrent { contents = Contents() }
            if let known = contents.headerFields[id] { return known }
            let found = try HeaderFieldRows.rows(ofJar: id, by: statements.headerFields)
            contents.headerFields[id] = found
            return found
        }
    }
}

/// Applies a jar's limits after it has received many cookies at once ("remove excess cookies", section 5.7).
struct JarLimiter {
    let journaled: JournaledCookieRows
    let limits: CookieLimits
    let now: Timestamp

    /// Removes the cookies of one registrable domain that exceed its limits. Expired cookies do not count.
    func removeExcess(site: Octets) throws -> [Eviction] {
        let cookies = try journaled.rows.outlines(site: site).filter { !$0.isExpired(at: now) }
        var found = SiteCookies(cookies)
        var evicted = found.removeExcess(nil, limits)
        let partitions = Set(cookies.compactMap(\.id.partitionKey)).sorted { $0.serialized < $1.serialized }
        for key in partitions { evicted += found.removeExcess(key, limits) }
        return try evicted.map { try evict($0.cookie, site: site, $0.reason) }
    }

    /// Removes the cookies that exceed the jar's total limit, the least recently used first. Stored expired cookies do
    /// not displace live ones, and have a separate limit of the same size.
    func removeTotalExcess() throws -> [Eviction] {
        guard let limit = limits.totalCookies else { return [] }
        let (live, expired) = try journaled.rows.counts(now: now)
        if expired > limit {
            for stored in try journaled.rows.shortestLivedExpired(expired - limit, now: now) {
                try journaled.removeExpired(stored.cookie, site: stored.site, now: now)
            }
        }
        guard live > limit else { return [] }
        return try journaled.rows.leastRecentlyUsed(live - limit, now: now).map {
            try evict($0.cookie, site: $0.site, .totalLimit)
        }
    }

    private func evict(_ cookie: Cookie, site: Octets, _ reason: EvictionReason) throws -> Eviction {
        try journaled.evict(cookie.id, site: site, now: now)
        return Eviction(cookie: cookie.with(value: []), reason: reason)
    }
}
