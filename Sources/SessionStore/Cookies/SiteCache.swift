internal import CookieModel
internal import Synchronization

/// The recently read sites, so that a Cookie field needs no row.
///
/// Every read first compares the committed version of the database with the cache's. If they differ, there was a write,
/// and the journal lists the sites to read again.
final class SiteCache: Sendable {
    /// How many cookies are kept of all jars, a site counting as one more.
    fileprivate static let sizeLimit = 200_000
    /// From how many changes on all sites of a jar are read anew.
    fileprivate static let changeLimit: Int64 = 256

    /// The cached data of a jar.
    fileprivate struct Jar {
        /// The version before ``position`` was read; `nil` if there is none to compare.
        var version: Reader.Version?
        /// The last change that was looked at: the sites are as this one left them, or newer.
        var position: Int64
        /// The last statement of the server's (``CommittedState/round``) that told it.
        var round = 0
        var sites: [Octets: SiteCookies] = [:]

        /// Whether nothing has been committed since. Mutating, so that a dictionary lends the jar instead of copying it.
        mutating func isCurrent(at now: Reader.Version?) -> Bool {
            now != nil && version == now
        }
    }

    fileprivate struct State {
        var reader: SiteReader?
        var jars: [Int64: Jar] = [:]
        /// How many cookies are kept, and sites.
        var size = 0
        /// Whether there was a question before: a program that has but one needs no second connection.
        var wasAsked = false
    }

    private let state = Mutex(State())

    /// Closes the connection: the last one to be closed must be one that can write, or the log stays behind.
    func close() {
        state.withLock { $0 = State() }
    }

    /// Calls `body` with the site of a question in its last committed state.
    ///
    /// - Returns: the result of `body`; `nil` for the very first question, which is not worth a connection.
    func answer<Answer: Sendable>(
        _ question: inout SiteQuestion, _ body: (inout SiteCookies, inout SiteQuestion) -> Answer
    ) throws -> Answer? {
        try state.withLock { state in
            guard state.wasAsked else {
                state.wasAsked = true
                return nil
            }
            let jar = question.jar
            let reader = try state.reader(of: jar.database)
            try jar.database.engine.checkFile()
            // Taken before anything is read: a commit in between is read twice rather than never.
            let version = reader.connection.version
            var place = state.jars.index(forKey: jar.id)
            let isCurrent = place.map { state.jars.values[$0].isCurrent(at: version) } ?? false
            if !isCurrent {
                try state.refresh(jar, by: reader, version)
                place = state.jars.index(forKey: jar.id)
            }
            if let place, let found = state.jars.values[place].sites.index(forKey: question.rules.site) {
                func answer(from cookies: inout SiteCookies) -> Answer {
                    // It pays where a site is asked for again.
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
}

extension SiteCache.State {
    /// The connection, opened for the first question that is worth one.
    fileprivate mutating func reader(of database: SessionDatabase) throws -> SiteReader {
        if let reader { return reader }
        let made = try SiteReader(database)
        reader = made
        return made
    }

    /// Forgets the sites of a jar that have changed.
    fileprivate mutating func refresh(_ jar: CookieJar, by reader: SiteReader, _ version: Reader.Version?) throws {
        // A statement that was answered later has told more.
        if let state = jar.state, let known = jars[jar.id], state.round < known.round { return }
        let status = try jar.state.map(SiteReader.Status.init) ?? reader.status(ofJar: jar.id)
        try renewKeys(jar, status)
        // Where the jar is gone, so is everything that was known of it.
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

    /// The rows of a site, in a state in which the loaded keys open them.
    fileprivate mutating func load(_ site: Octets, of jar: CookieJar, by reader: SiteReader) throws -> SiteCookies {
        while true {
            let cookies = try reader.cookies(site: site, ofJar: jar.id)
            // Nothing was committed since the keys were asked for, or the keys are still the same.
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

    /// Reloads the keys from their source if the database has a newer one than the loaded ones, and drops the values
    /// that only the older ones may open.
    ///
    /// - Returns: whether there was a newer key.
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

/// The cookies of a site in the form that ``SiteCache`` keeps. At first they are sealed, and only the values sent are
/// opened; from the second question on all are opened.
extension SiteCookies {
    /// How much room the site takes: one, and one for each cookie.
    fileprivate var size: Int { 1 + count }

    /// Divides the cookies into those that are sent with a request and those that are not (section 5.8.3 of the draft),
    /// and records the access.
    mutating func retrieve(_ question: inout SiteQuestion) -> Retrieval {
        guard hasSealedValues else { return retrieve(question.rules, &question.accesses) }
        return retrieve(question.rules, &question.accesses, opening: question.jar.opener())
    }

    /// The cookie-string alone; notes the access.
    mutating func cookieString(_ question: inout SiteQuestion) -> Octets {
        guard hasSealedValues else { return cookieString(question.rules, &question.accesses) }
        return cookieString(question.rules, &question.accesses, opening: question.jar.opener())
    }
}

/// Reads from the database for ``SiteCache``, on a connection of its own.
final class SiteReader {
    /// The data that shows whether something changed, and whether values can be opened.
    struct Status {
        /// The position that the jar's next change gets; `nil` where the jar is gone.
        let nextChange: Int64?
        /// The id of the key that seals.
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

    /// The cookies of a site, values sealed.
    func cookies(site: Octets, ofJar id: Int64) throws -> SiteCookies {
        try CookieRows.cookies(site: site, ofJar: id, by: cookies, &scratch)
    }

    /// How far a jar's journal is, and the newest key.
    func status(ofJar id: Int64) throws -> Status {
        status.bind(1, id)
        defer { status.reset() }
        guard try status.step() else { return Status(nextChange: nil, newestKey: nil) }
        return Status(
            nextChange: status.optionalInt64(0),
            newestKey: status.optionalInt64(1).map { UInt32(truncatingIfNeeded: $0) })
    }

    /// The sites of the changes after `first` up to `last`; `nil` where the journal does not have each of them any
    /// more.
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

/// The question of a request to the cookies of its site.
///
/// It is passed on as one value, by reference: otherwise each closure between the question and the cookies would copy
/// parts of it, which takes longer than the answer.
struct SiteQuestion {
    let jar: CookieJar
    let rules: RetrievalRules
    /// Which of the accesses that the answer is are to be written down.
    var accesses: AccessNotes

    init(_ context: borrowing RequestContext, to jar: CookieJar, now: Timestamp) {
        self.jar = jar
        rules = RetrievalRules(context, jar.policy, now: now)
        accesses = AccessNotes(before: now.advanced(bySeconds: -jar.database.lastAccessGranularity))
    }
}
