internal import CookieModel
internal import Synchronization

/// Recently read sites, so that a Cookie field can be built without reading a row.
///
/// Every read first compares the committed version of the database with the cache's. If they differ, something was
/// written, and the journal lists the sites to read again.
final class SiteCache: Sendable {
    /// How many cookies of all jars are kept. A site counts as one more.
    fileprivate static let sizeLimit = 200_000
    /// The number of changes from which all sites of a jar are read again.
    fileprivate static let changeLimit: Int64 = 256

    /// The cached data of a jar.
    fileprivate struct Jar {
        /// The version before ``position`` was read; `nil` if there is nothing to compare.
        var version: Reader.Version?
        /// The last change that was read. The sites are in the state after this change, or newer.
        var position: Int64
        /// The number of the server's last statement that reported it (``CommittedState/round``).
        var round = 0
        var sites: [Octets: SiteCookies] = [:]

        /// Whether nothing has been committed since. It is mutating so that a dictionary lends the jar instead of
        /// copying it.
        mutating func isCurrent(at now: Reader.Version?) -> Bool {
            now != nil && version == now
        }
    }

    fileprivate struct State {
        var reader: SiteReader?
        var jars: [Int64: Jar] = [:]
        /// How many cookies and sites are kept.
        var size = 0
        /// Whether there was an earlier question. A program with only one question needs no second connection.
        var wasAsked = false
    }

    private let state = Mutex(State())

    /// Closes the connection: the last one to be closed must be able to write, or the log remains.
    func close() {
        state.withLock { $0 = State() }
    }

    /// Calls `body` with the site of a question in its last committed state.
    ///
    /// - Parameter mayOpen: whether the first question justifies a connection.
    /// - Returns: the result of `body`; `nil` for a first question that does not.
    func answer<Answer: Sendable>(
        _ question: inout SiteQuestion, mayOpen: Bool = false,
        _ body: (inout SiteCookies, inout SiteQuestion) -> Answer
    ) throws -> Answer? {
        try state.withLock { state in
            guard state.wasAsked || mayOpen else {
                state.wasAsked = true
                return nil
            }
            let jar = question.jar
            let reader = try state.reader(of: jar.database)
            try jar.database.engine.checkFile()
            // Read first, so that a commit in between is read twice rather than never.
            let version = reader.connection.version
            var place = state.jars.index(forKey: jar.id)
            let isCurrent = place.map { state.jars.values[$0].isCurrent(at: version) } ?? false
            if !isCurrent {
                try state.refresh(jar, by: reader, version)
                place = state.jars.index(forKey: jar.id)
            }
            if let place, let found = state.jars.values[place].sites.index(forKey: question.rules.site) {
                func answer(from cookies: inout SiteCookies) -> Answer {
                    // This is worthwhile if the site is needed again.
                    if cookies.hasSealedValues { cookies.openValues(jar.opener()) }
                    return body(&cookies, &question)
                }
                return answer(from: &state.jars.values[place].sites.values[found])
            }
            var loaded = try state.load(question.rules.site, of: jar, by: reader)
            let answer = body(&loaded, &question)
            state.insert(loaded, question.rules.site, of: jar)
            return answer
        }
    }

    /// The same, if the site is in memory in its last committed state, and no other thread uses the cache.
    ///
    /// - Returns: the result of `body`; `nil` if the database has to be read.
    func answerFromMemory<Answer: Sendable>(
        _ question: inout SiteQuestion, _ body: (inout SiteCookies, inout SiteQuestion) -> Answer
    ) throws -> Answer? {
        try state.withLockIfAvailable { state -> Answer? in
            let jar = question.jar
            guard let version = state.reader?.connection.version, let place = state.jars.index(forKey: jar.id),
                state.jars.values[place].isCurrent(at: version),
                let found = state.jars.values[place].sites.index(forKey: question.rules.site),
                !state.jars.values[place].sites.values[found].hasSealedValues
            else { return nil }
            try jar.database.engine.checkFile()
            return body(&state.jars.values[place].sites.values[found], &question)
        } ?? nil
    }
}

extension SiteCache.State {
    /// The connection, opened for the first question that needs one.
    fileprivate mutating func reader(of database: SessionDatabase) throws -> SiteReader {
        if let reader { return reader }
        let made = try SiteReader(database)
        reader = made
        return made
    }

    /// Removes the sites of a jar that have changed.
    fileprivate mutating func refresh(_ jar: CookieJar, by reader: SiteReader, _ version: Reader.Version?) throws {
        // A statement that was answered later is newer.
        if let state = jar.state, let known = jars[jar.id], state.round < known.round { return }
        let status = try jar.state.map(SiteReader.Status.init) ?? reader.status(ofJar: jar.id)
        try renewKeys(jar, status)
        // If the jar no longer exists, everything that was known of it is dropped.
        let last = (status.nextChange ?? 0) - 1
        if let known = jars[jar.id]?.position, known != last {
            let changed =
                known < last && last - known <= SiteCache.changeLimit
                ? try reader.sites(ofJar: jar.id, changedAfter: known, upTo: last) : nil
            if let changed {
                for site in changed { size -= jars[jar.id]?.sites.removeValue(forKey: site)?.size ?? 0 }
            } else {
                forgetSites(ofJar: jar.id) { _ in true }
            }
        }
        jars[jar.id, default: SiteCache.Jar(position: last)].position = last
        jars[jar.id]?.version = version
        if let round = jar.state?.round { jars[jar.id]?.round = round }
    }

    /// The rows of a site, which the loaded keys can open.
    fileprivate mutating func load(_ site: Octets, of jar: CookieJar, by reader: SiteReader) throws -> SiteCookies {
        while true {
            let cookies = try reader.cookies(site: site, ofJar: jar.id)
            // Nothing was committed since the keys were checked, or the keys are still the same.
            if let version = reader.connection.version, version == jars[jar.id]?.version { return cookies }
            guard try renewKeys(jar, try reader.status(ofJar: jar.id)) else { return cookies }
        }
    }

    fileprivate mutating func insert(_ loaded: SiteCookies, _ site: Octets, of jar: CookieJar) {
        if size + loaded.size > SiteCache.sizeLimit {
            for id in jars.keys { forgetSites(ofJar: id) { _ in true } }
        }
        // A copy of the key: the original keeps the whole URL in memory.
        jars[jar.id]?.sites[Octets(Array(site))] = loaded
        size += loaded.size
    }

    /// Reloads the keys from their source if the database has a newer key, and drops the values that only older keys
    /// can open.
    ///
    /// - Returns: whether a newer key exists.
    @discardableResult
    private mutating func renewKeys(_ jar: CookieJar, _ status: SiteReader.Status) throws -> Bool {
        let database = jar.database
        guard let newest = status.newestKey, newest != database.sealer.keyID else { return false }
        try database.engine.read { _ = try database.keyRing.renew($0) }
        for id in jars.keys { forgetSites(ofJar: id) { $0.hasSealedValues } }
        return true
    }

    private mutating func forgetSites(ofJar id: Int64, where isGone: (SiteCookies) -> Bool) {
        guard let sites = jars[id]?.sites else { return }
        let kept = sites.filter { !isGone($0.value) }
        size += kept.values.reduce(0) { $0 + $1.size } - sites.values.reduce(0) { $0 + $1.size }
        jars[id]?.sites = kept
    }
}

/// The cookies of a site in the form that ``SiteCache`` keeps. For the first question, only the values that are sent
/// are opened; from the second question on, all are opened.
extension SiteCookies {
    /// The size of the site in the cache: one, and one for each cookie.
    fileprivate var size: Int { 1 + count }

    /// Divides the cookies into those that are sent with a request and those that are not (section 5.8.3 of the draft),
    /// and records the access.
    mutating func retrieve(_ question: inout SiteQuestion) -> Retrieval {
        guard hasSealedValues else { return retrieve(question.rules, &question.accesses) }
        return retrieve(question.rules, &question.accesses, opening: question.jar.opener())
    }

    /// Returns only the cookie-string, and records the access.
    mutating func cookieString(_ question: inout SiteQuestion) -> Octets {
        guard hasSealedValues else { return cookieString(question.rules, &question.accesses) }
        return cookieString(question.rules, &question.accesses, opening: question.jar.opener())
    }
}

/// Reads from the database for ``SiteCache``, on a connection of its own.
final class SiteReader {
    /// The data that shows whether something changed, and whether values can be opened.
    struct Status {
        /// The position of the jar's next change; `nil` if the jar no longer exists.
        let nextChange: Int64?
        /// The ID of the newest key, which seals values.
        let newestKey: UInt32?

        init(nextChange: Int64?, newestKey: UInt32?) {
            self.nextChange = nextChange
            self.newestKey = newestKey
        }

        init(_ state: CommittedState) {
            self.init(nextChange: state.jar?.nextChange, newestKey: state.newestKey)
        }
    }

    let connection: Reader
    private let cookies: Statement
    private let status: Statement
    private let changes: Statement
    private var scratch = SiteCookies.scratch

    init(_ database: SessionDatabase) throws {
        connection = try database.engine.makeReader()
        cookies = try connection.prepare(CookieRows.siteQuery)
        status = try connection.prepare(
            "SELECT (\(ChangeRows.nextPositionQuery)), (SELECT max(id) FROM sealing_key)")
        changes = try connection.prepare(
            "SELECT position, site FROM cookie_change WHERE id > ? AND id <= ? ORDER BY id")
    }

    /// The cookies of a site, with sealed values.
    func cookies(site: Octets, ofJar id: Int64) throws -> SiteCookies {
        try CookieRows.cookies(site: site, ofJar: id, by: cookies, &scratch)
    }

    /// The end of a jar's journal, and the newest key.
    func status(ofJar id: Int64) throws -> Status {
        status.bind(1, id)
        defer { status.reset() }
        guard try status.step() else { return Status(nextChange: nil, newestKey: nil) }
        return Status(
            nextChange: status.optionalInt64(0),
            newestKey: status.optionalInt64(1).map { UInt32(truncatingIfNeeded: $0) })
    }

    /// The sites of the changes after `first` up to `last`; `nil` if the journal no longer has all of these changes.
    func sites(ofJar id: Int64, changedAfter first: Int64, upTo last: Int64) throws -> Set<Octets>? {
        changes.bind(1, ChangeRows.id(first, ofJar: id))
        changes.bind(2, ChangeRows.id(last, ofJar: id))
        defer { changes.reset() }
        var sites: Set<Octets> = []
        var position = first
        while try changes.step() {
            position += 1
            guard changes.int64(0) == position else { return nil }
            sites.insert(Octets(changes.bytes(1)))
        }
        return position == last ? sites : nil
    }
}

/// A request for which a site's cookies are retrieved.
///
/// It is passed as one value, by reference. Otherwise each closure on the way to the cookies would copy parts of it,
/// which takes longer than the retrieval.
struct SiteQuestion {
    let jar: CookieJar
    let rules: RetrievalRules
    /// Which accesses have to be recorded.
    var accesses: AccessNotes

    init(_ context: borrowing RequestContext, to jar: CookieJar, now: Timestamp) {
        self.jar = jar
        rules = RetrievalRules(context, jar.policy, now: now)
        accesses = AccessNotes(before: now.advanced(bySeconds: -jar.database.lastAccessGranularity))
    }
}

/// The cookies of a site that were sent, if that has to be recorded.
struct SiteAccess: Sendable {
    let cookies: [Cookie.ID]
    let site: Octets
    let time: Timestamp

    init(_ question: borrowing SiteQuestion) {
        cookies = question.accesses.cookies
        site = question.rules.site
        time = question.rules.now
    }
}
