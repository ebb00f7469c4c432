internal import CookieModel
internal import GRDB
internal import Synchronization

/// The sites that were read lately, with their values opened, so that a header needs no row.
///
/// Every reading asks SQLite first whether somebody wrote (`PRAGMA data_version`), on a connection of its own, which no
/// writer of this process holds up; where somebody did, the journal tells which sites to read anew.
final class SiteCache: Sendable {
    /// How many sites are kept of all jars.
    private static let siteLimit = 8192

    /// What is known of a site.
    struct Site {
        var cookies: SiteCookies
        /// Cookies whose value cannot be read back, without it.
        let unreadable: [Cookie]
    }

    private struct Jar {
        /// How far the journal was when the first site was read, or when it was last asked.
        var position: Int64
        var sites: [Octets: Site] = [:]
    }

    private struct State {
        var reader: DatabaseQueue?
        var dataVersion: Int64 = -1
        var jars: [Int64: Jar] = [:]
        var siteCount = 0
        /// Whether something was read before: a program that asks once needs no second connection.
        var wasAsked = false
    }

    private let state = Mutex(State())

    /// Whether a site should be read here; false for the first question.
    func isWorthwhile() -> Bool {
        state.withLock { state in
            defer { state.wasAsked = true }
            return state.wasAsked
        }
    }

    /// Closes the connection: the last one to be closed must be one that can write, or the log stays behind.
    func close() {
        state.withLock { $0 = State() }
    }

    /// Calls `body` with a site of a jar as the last commit left it.
    ///
    /// - Parameters:
    ///   - open: opens the read-only connection, the first time.
    ///   - check: refuses to read a file that is not in its place any more.
    ///   - load: reads the site's cookies.
    func withSite<Result>(
        _ site: Octets, ofJar id: Int64, open: () throws -> DatabaseQueue,
        check: (Database) throws -> Void, load: (Database) throws -> Site,
        _ body: (inout Site) -> Result
    ) throws -> Result {
        try state.withLock { state in
            let reader = try state.reader ?? open()
            state.reader = reader
            try reader.inDatabase { database in
                try check(database)
                try SiteCache.refresh(&state, database)
                guard state.jars[id]?.sites[site] == nil else { return }
                if state.siteCount >= SiteCache.siteLimit {
                    state.jars = [:]
                    state.siteCount = 0
                }
                if state.jars[id] == nil {
                    // Asked before the rows are read: what comes in between is read twice rather than never.
                    state.jars[id] = Jar(
                        position: try ChangeRows(database: database, jarID: id).nextPosition() - 1)
                }
                state.jars[id]?.sites[site] = try load(database)
                state.siteCount += 1
            }
            var empty = Site(cookies: SiteCookies(), unreadable: [])
            guard let jar = state.jars.index(forKey: id),
                let place = state.jars.values[jar].sites.index(forKey: site)
            else { return body(&empty) }
            return body(&state.jars.values[jar].sites.values[place])
        }
    }

    /// Forgets the sites that somebody changed.
    private static func refresh(_ state: inout State, _ database: Database) throws {
        let statement = try RowStatement(database, "PRAGMA data_version")
        let version = try statement.step() ? statement.int64(0) : -1
        statement.reset()
        guard version != state.dataVersion else { return }
        for id in state.jars.keys {
            guard let known = state.jars[id]?.position else { continue }
            let (changed, position) = try ChangeRows(database: database, jarID: id).sites(changedAfter: known)
            if let changed {
                for site in changed where state.jars[id]?.sites.removeValue(forKey: site) != nil {
                    state.siteCount -= 1
                }
                state.jars[id]?.position = position
            } else {
                state.siteCount -= state.jars[id]?.sites.count ?? 0
                state.jars[id] = nil
            }
        }
        state.dataVersion = version
    }
}
