public import CookieModel

/// A named, isolated set of cookies in a ``SessionDatabase``.
///
/// ```swift
/// let context = RequestContext(url: url)
/// try await jar.receive(ReceivedResponse(context: context, setCookie: ["sid=31d4; Secure; HttpOnly"]))
/// let retrieval = try await jar.retrieve(for: context)
/// print("Cookie: \(retrieval.cookieString)")
/// ```
///
/// Reads see every write that was acknowledged before, including those of other processes. Each write is one
/// transaction and decides on data that it reads itself, so no update is lost.
public final class CookieJar: Sendable {
    /// The jar's name.
    public let name: String
    /// The rules that apply.
    public let policy: CookiePolicy
    package let database: SessionDatabase
    /// The jar's number. It does not change with the name, and is never used again.
    package let id: Int64
    /// Whether it had header fields when it was opened.
    let hasHeaderFields: Bool
    /// The state that was committed when the jar was opened; `nil` if the caller may write before its last read.
    let state: CommittedState?

    init(
        database: SessionDatabase, id: Int64, name: String, policy: CookiePolicy, hasHeaderFields: Bool,
        state: CommittedState? = nil
    ) {
        self.database = database
        self.id = id
        self.name = name
        self.policy = policy
        self.hasHeaderFields = hasHeaderFields
        self.state = state
    }

    /// The jar of a row.
    ///
    /// - Parameter policy: the rules, except for profile and limits, which are the jar's own.
    convenience init(
        _ row: JarRows.Row, named name: String, in database: SessionDatabase, policy: CookiePolicy,
        state: CommittedState? = nil
    ) {
        self.init(
            database: database, id: row.id, name: name, policy: row.settings.applied(to: policy),
            hasHeaderFields: row.hasHeaderFields, state: state)
    }

    /// The same jar for reads after a write.
    package var afterWrite: CookieJar {
        guard state != nil else { return self }
        return CookieJar(database: database, id: id, name: name, policy: policy, hasHeaderFields: hasHeaderFields)
    }

    /// Receives every Set-Cookie line of one response, in one transaction.
    @discardableResult
    public func receive(
        _ response: ReceivedResponse, now: Timestamp? = nil
    ) throws(SessionStoreError) -> [StorageDecision] {
        let now = now ?? database.clock.now
        let (decisions, evicted) = try withBatch(beginningWith: response, now: now) {
            batch throws(SessionStoreError) in
            try batch.receive(response, at: now)
        }
        return decisions.noting(evicted)
    }

    /// The outcome of a response in a transaction that was not committed yet.
    typealias PendingReceipt = (decisions: [StorageDecision], batch: FinishedBatch)

    /// Receives a response as ``receive(_:now:)`` does, in a transaction of a file that has begun.
    func receive(
        _ response: ReceivedResponse, now: Timestamp, on connection: Connection
    ) throws -> PendingReceipt {
        let order = BatchOrder(jar: self, capture: nil, expected: response, isRepeatable: true, now: now)
        var decisions: [StorageDecision] = []
        let finished = try FileWriter(memory: database.memory).run(order, on: connection) {
            batch throws(SessionStoreError) in decisions = try batch.receive(response, at: now)
        }
        return (decisions, finished)
    }

    /// The decisions of a transaction that was committed.
    func decisions(of receipt: PendingReceipt) -> [StorageDecision] {
        record(receipt.batch.rejections)
        return receipt.decisions.noting(receipt.batch.evicted)
    }

    /// Receives many responses and records in one transaction: either all of them are stored, or none.
    ///
    /// `body` must use the database only through the batch. It runs at most once.
    ///
    /// - Parameter now: the current time. Cookies that have expired by then are left out.
    /// - Returns: the result of `body`, and the cookies evicted at the end of the transaction because the jar had more
    ///   than `CookieLimits.totalCookies`. The decisions contain the cookies evicted by the other limits.
    @discardableResult
    public func withBatch<Result>(
        now: Timestamp? = nil, _ body: (inout CookieBatch) throws(SessionStoreError) -> Result
    ) throws(SessionStoreError) -> (result: Result, evicted: [Eviction]) {
        try withBatch(from: nil, now: now, body)
    }

    /// The same, for responses and records of a capture. Cookies that have expired by now are left out, whatever the
    /// time of the capture.
    ///
    /// - Parameter capture: the capture that contains all of them, from ``beginCapture(named:now:)``.
    @discardableResult
    package func withBatch<Result>(
        from capture: CaptureID?, now: Timestamp? = nil,
        _ body: (inout CookieBatch) throws(SessionStoreError) -> Result
    ) throws(SessionStoreError) -> (result: Result, evicted: [Eviction]) {
        try withBatch(from: capture, beginningWith: nil, isRepeatable: false, now: now ?? database.clock.now, body)
    }

    /// The same, for a batch that is likely to receive a response first. A server answers the queries for it together
    /// with the beginning of the transaction.
    ///
    /// - Parameter isRepeatable: whether `body` may run again after a deadlock, because it changes nothing but the
    ///   batch.
    package func withBatch<Result>(
        from capture: CaptureID? = nil, beginningWith response: ReceivedResponse?, isRepeatable: Bool = true,
        now: Timestamp,
        _ body: (inout CookieBatch) throws(SessionStoreError) -> Result
    ) throws(SessionStoreError) -> (result: Result, evicted: [Eviction]) {
        var result: Result?
        let finished = try database.writer.write(
            BatchOrder(jar: self, capture: capture, expected: response, isRepeatable: isRepeatable, now: now)
        ) { batch throws(SessionStoreError) in
            result = try body(&batch)
        }
        record(finished.rejections)
        guard let result else { throw SessionStoreError(.databaseFailed, database.path, "the batch did not run") }
        return (result, finished.evicted)
    }

    /// All cookies with their opened values, and second those whose value was tampered with, without values.
    public func cookies() throws(SessionStoreError) -> (readable: [Cookie], unreadable: [Cookie]) {
        let sealed = try database.read { connection in
            try CookieRows(database: connection, jarID: id).allCookies()
        }
        return opened(sealed)
    }

    /// Cookies of rows with their opened values, and second those whose value cannot be read, without values.
    private func opened(_ sealed: [Cookie]) -> (readable: [Cookie], unreadable: [Cookie]) {
        let sealer = database.sealer
        var readable: [Cookie] = []
        var unreadable: [Cookie] = []
        for cookie in sealed {
            if let value = sealer.open(cookie.value, at: cookie.sealedPlace(jarID: id)) {
                readable.append(cookie.with(value: value))
            } else {
                unreadable.append(cookie.with(value: []))
            }
        }
        return (readable, unreadable)
    }

    /// A part of the jar: at most `count` cookies after a position in the order of sites and, within a site, of
    /// creation, with opened values. A cookie whose value was tampered with is not readable, and has no value.
    package func cookies(
        after site: Octets, _ sequence: Int64, count: Int
    ) throws(SessionStoreError) -> [(site: Octets, cookie: Cookie, isReadable: Bool)] {
        let rows = try database.read {
            try CookieRows(database: $0, jarID: id).rows(after: site, sequence, count: count)
        }
        let sealer = database.sealer
        return rows.map { row in
            let value = sealer.open(row.cookie.value, at: row.cookie.sealedPlace(jarID: id))
            return (row.site, row.cookie.with(value: value ?? []), value != nil)
        }
    }

    /// A function that opens the values of packed rows with the current keys; it returns `nil` for a value that cannot
    /// be read.
    func opener() -> (borrowing PackedCookie) -> Octets? {
        let sealer = database.sealer
        return { [id] cookie in sealer.open(cookie.valueOctets, at: cookie.sealedPlace(jarID: id)) }
    }
}

extension Cookie {
    func with(value: Octets) -> Cookie {
        var copy = self
        copy.value = value
        return copy
    }
}

extension CookieJar {
    /// Retrieves the cookies for a request (section 5.8.3 of the draft), records the access, and explains why the other
    /// cookies are not sent.
    ///
    /// Sees every write that was acknowledged before, by any process. A cookie whose stored value was tampered with is
    /// left out, with the reason `unreadable`.
    public func retrieve(for context: RequestContext, now: Timestamp? = nil) throws(SessionStoreError) -> Retrieval {
        try answer(SiteQuestion(context, to: self, now: now ?? database.clock.now)) { $0.retrieve(&$1) }
    }

    /// Retrieves the cookie-string for a request (section 5.8.3) and records the access. The cookies are those of
    /// ``retrieve(for:now:)``, without the reasons.
    public func cookieString(for context: RequestContext, now: Timestamp? = nil) throws(SessionStoreError) -> Octets {
        try answer(SiteQuestion(context, to: self, now: now ?? database.clock.now)) { $0.cookieString(&$1) }
    }

    private func answer<Answer: Sendable>(
        _ question: consuming SiteQuestion, _ body: (inout SiteCookies, inout SiteQuestion) -> Answer
    ) throws(SessionStoreError) -> Answer {
        let answer = try readAnswer(&question, body)
        try note(SiteAccess(question))
        return answer
    }

    /// Answers a question without noting the access.
    ///
    /// - Parameter mayOpen: whether to open a connection for the first question.
    func readAnswer<Answer: Sendable>(
        _ question: inout SiteQuestion, mayOpen: Bool = false,
        _ body: (inout SiteCookies, inout SiteQuestion) -> Answer
    ) throws(SessionStoreError) -> Answer {
        // A database in memory has only one connection, and reading its rows is fast enough.
        if database.engine.isOnDisk {
            let cached = try SessionStoreError.catching(database.path) {
                try database.cache.answer(&question, mayOpen: mayOpen, body)
            }
            if let cached { return cached }
        }
        let site = question.rules.site
        var rows = try database.read { try CookieRows(database: $0, jarID: id).cookies(site: site) }
        return body(&rows, &question)
    }

    /// Records when cookies were last sent.
    func note(_ access: SiteAccess) throws(SessionStoreError) {
        guard !access.cookies.isEmpty else { return }
        do {
            // Another process may hold the lock while it reads a capture. A header does not wait for that.
            try database.writeUnlessBusy(.jar(id)) { connection in
                let rows = CookieRows(database: connection, jarID: id)
                for cookie in access.cookies { try rows.touch(cookie, site: access.site, now: access.time) }
            }
        } catch  where error.code == .databaseBusy || error.code == .databaseReadOnly || error.code == .diskFull {
            // The header is correct without it: the time matters only for eviction.
        }
    }
}

extension CookieJar {
    /// Enumerates all cookies, one registrable domain after the other, so that only one domain's are in memory.
    ///
    /// Each domain is read when its turn comes, and includes every write that was acknowledged before.
    ///
    /// - Parameter body: receives the cookies of one domain in the order of creation, with their values opened, and
    ///   then those whose value was tampered with, without values. If it throws, the reading ends and the error is
    ///   rethrown.
    package func forEachSite(_ body: (_ readable: [Cookie], _ unreadable: [Cookie]) throws -> Void) throws {
        for site in try sites() {
            let (readable, unreadable) = try cookies(site: site)
            try body(readable, unreadable)
        }
    }

    /// The registrable domains that have cookies.
    package func sites() throws(SessionStoreError) -> [Octets] {
        try database.read { try CookieRows(database: $0, jarID: id).sites() }
    }

    /// The hosts that have cookies, each with the registrable domain under which they are stored. Reads the whole jar,
    /// but no value.
    package func hosts() throws(SessionStoreError) -> [(site: Octets, host: WebHost)] {
        try database.read { try CookieRows(database: $0, jarID: id).hosts() }
    }

    /// The cookies of the registrable domain that `host` belongs to, in the order of creation, with opened values, and
    /// then those whose value was tampered with, without values.
    package func cookies(
        ofSiteOf host: WebHost
    ) throws(SessionStoreError) -> (readable: [Cookie], unreadable: [Cookie]) {
        try cookies(site: host.registrableDomain(policy.publicSuffixes))
    }

    /// The cookies of one of ``sites()``, as ``cookies(ofSiteOf:)`` returns them.
    package func cookies(site: Octets) throws(SessionStoreError) -> (readable: [Cookie], unreadable: [Cookie]) {
        let sealed = try database.read { try CookieRows(database: $0, jarID: id).cookies(site: site) }
        return opened(sealed.cookies.sorted { ($0.creation, $0.sequence) < ($1.creation, $1.sequence) })
    }
}

extension [StorageDecision] {
    /// The decisions, the last of which has evicted further cookies, at the end of the transaction.
    fileprivate func noting(_ evicted: [Eviction]) -> [StorageDecision] {
        guard !evicted.isEmpty, !isEmpty else { return self }
        var decisions = self
        decisions[decisions.count - 1].evicted += evicted
        return decisions
    }
}
