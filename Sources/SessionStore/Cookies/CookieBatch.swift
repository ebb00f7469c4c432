public import CookieModel

/// The responses and records that a ``CookieJar`` receives in one transaction.
public struct CookieBatch {
    private let jarID: Int64
    private var sites: BatchSites
    let sealer: Sealer
    /// The web storage of the batch, and the position of its next item; `nil` until it is needed.
    var storageRoom = WebStorageRoom()
    var nextStorageSequence: Int64?
    let path: String
    let now: Timestamp
    let captureID: Int64?
    /// The cookies that responses of unknown time have set in this batch.
    private var untimed: Set<Cookie.ID> = []
    /// Cookies that a capture's responses deleted, or let expire, and that the jar never had. The journal keeps them,
    /// so that a capture of older requests does not store them.
    private var endedUnseen: [Cookie.ID: (site: Octets, ending: CookieEnding)] = [:]
    private var rejections = RejectionList()
    /// Whether a cookie had to go because its site, or its partition, had too many.
    private(set) var hasEvicted = false

    /// A batch within a transaction.
    ///
    /// - Parameters:
    ///   - remembered: the state of the jar.
    ///   - memory: has the nonces of what the batch seals.
    init(
        _ order: BatchOrder, on connection: Connection, beginningWith remembered: RememberedJar, _ memory: WriterMemory
    ) {
        now = order.now
        captureID = order.capture?.rawValue
        jarID = order.jar.id
        path = order.jar.database.path
        sealer = order.jar.database.sealer
        sites = BatchSites(order, on: connection, beginningWith: remembered, sealer, memory)
    }

    /// Receives every Set-Cookie line of a response (sections 5.3, 5.6 and 5.7 of the draft).
    ///
    /// - Parameter time: when the response came. Lifetimes count from then. A cookie that has expired since is
    ///   `deleted`.
    @discardableResult
    public mutating func receive(
        _ response: ReceivedResponse, at time: Timestamp
    ) throws(SessionStoreError) -> [StorageDecision] {
        try receive(response, at: time, answered: nil, sparing: nil)
    }

    /// Receives a response of a capture.
    ///
    /// - Parameters:
    ///   - answered: when the response was complete. Lifetimes may begin earlier. A cookie whose lifetime had ended by
    ///     then was deleted by the response.
    ///   - limit: for a response whose time is unknown, the time after which stored cookies stay as they are.
    @discardableResult
    package mutating func receive(
        _ response: ReceivedResponse, at time: Timestamp, answered: Timestamp?, sparing limit: Timestamp? = nil
    ) throws(SessionStoreError) -> [StorageDecision] {
        let host = response.context.url.host
        let site = host.site(sites.jar.store.policy.publicSuffixes)
        let decisions = try decide(on: response, of: site, at: time, answered: answered, sparing: limit)
        rejections.append(decisions, from: host, site: site.registrableDomain, at: min(time, now))
        return decisions
    }

    private mutating func decide(
        on response: ReceivedResponse, of site: WebHost.Site, at time: Timestamp, answered: Timestamp?,
        sparing limit: Timestamp?
    ) throws(SessionStoreError) -> [StorageDecision] {
        guard response.setsCookies else {
            return response.setCookie.map { _ in .ignored([.informationalResponse]) }
        }
        let source = StoredCookie.Source(
            captureID: captureID, url: response.context.url.withoutQuery, received: limit == nil ? time : nil,
            answered: limit == nil ? answered : nil)
        var decisions: [StorageDecision] = []
        decisions.reserveCapacity(response.setCookie.count)
        for line in response.setCookie {
            switch SetCookie.parse(line, profile: sites.jar.store.policy.profile) {
            case .ignored(let reasons):
                decisions.append(.ignored(reasons))
            case .cookie(let setCookie):
                try enter(site.registrableDomain)
                if sites.jar.store.policy.mayOverlaySecureCookies(setCookie, in: response.context) {
                    try SessionStoreError.catching(path) { try sites.load(around: site.registrableDomain) }
                }
                if let limit {
                    let id = sites.jar.store.counterpart(of: setCookie, in: response.context, site: site, now: time)
                    let stored = try id.flatMap { id throws(SessionStoreError) in
                        try receivedTime(id, site: site.registrableDomain)
                    }
                    if let decision = StorageDecision(setCookie, replacing: stored, after: limit) {
                        decisions.append(decision)
                        continue
                    }
                }
                var decision = sites.jar.store.receive(setCookie, in: response.context, site: site, at: time, now: now)
                try write(decision, site: site.registrableDomain, source)
                if limit != nil, let id = decision.cookie?.id { untimed.insert(id) }
                decision.dropStoredValues()
                decisions.append(decision)
            }
        }
        return decisions
    }

    /// When the stored cookie was received; `nil` if that is unknown.
    private mutating func receivedTime(_ id: Cookie.ID, site: Octets) throws(SessionStoreError) -> Timestamp? {
        guard !untimed.contains(id) else { return nil }
        let rows = try writtenRows()
        return try SessionStoreError.catching(path) { try rows.received(id, site: site) }
    }

    /// Receives a cookie of another store.
    ///
    /// - Parameter url: the URL of the request that sent it, if the cookie is known only from a request.
    @discardableResult
    public mutating func receive(
        _ record: CookieRecord, sentTo url: RequestURL? = nil
    ) throws(SessionStoreError) -> StorageDecision {
        let site =
            WebHost(record.domain)?.registrableDomain(sites.jar.store.policy.publicSuffixes) ?? Octets(record.domain)
        try enter(site)
        var decision = sites.jar.store.receive(record, now: now)
        try write(
            decision, site: site,
            StoredCookie.Source(
                captureID: captureID, url: url?.withoutQuery, received: record.request?.time ?? now))
        decision.dropStoredValues()
        return decision
    }

    /// The unexpired cookies of a registrable domain, with blank values.
    package mutating func cookies(of site: Octets) throws(SessionStoreError) -> [Cookie] {
        try enter(site)
        return sites.jar.store[site]?.cookies ?? []
    }

    /// The cookies of a registrable domain with their values, without those whose value cannot be read.
    package mutating func openedCookies(of site: Octets) throws(SessionStoreError) -> [Cookie] {
        let rows = try writtenRows()
        return try SessionStoreError.catching(path) {
            try rows.cookies(site: site).cookies.compactMap { cookie in
                sealer.open(cookie.value, at: cookie.sealedPlace(jarID: jarID)).map { cookie.with(value: $0) }
            }
        }
    }

    /// Ends the batch: writes the remaining rows, the journal and the next number in the order of creation, and removes
    /// the cookies over the total limit.
    mutating func finish() throws(SessionStoreError) -> FinishedBatch {
        let (evicted, remembered) = try SessionStoreError.catching(path) {
            try sites.finish {
                for (site, ending) in endedUnseen.values.sorted(by: { $0.ending.time < $1.ending.time }) {
                    $0.append(ending.isExpiry ? .expired : .deleted, ending.cookie, site: site, ended: ending.time)
                }
            }
        }
        return FinishedBatch(evicted: evicted, rejections: rejections, remembered: remembered)
    }

    /// The rows, with everything that the batch has decided so far.
    mutating func writtenRows() throws(SessionStoreError) -> CookieRows {
        try SessionStoreError.catching(path) { try sites.writer.writtenRows() }
    }

    private mutating func enter(_ site: Octets) throws(SessionStoreError) {
        try SessionStoreError.catching(path) { try sites.enter(site) }
    }

    private mutating func write(
        _ decision: borrowing StorageDecision, site: Octets, _ source: StoredCookie.Source
    ) throws(SessionStoreError) {
        guard let cookie = decision.cookie else { return }
        try SessionStoreError.catching(path) {
            if decision.outcome == .deleted {
                let hadRow = decision.previous != nil || sites.takeExpired(cookie.id, site: site)
                guard hadRow || !decision.superseded.isEmpty else {
                    return noteUnseenEnd(of: cookie, site: site, source)
                }
                for id in (hadRow ? [cookie.id] : []) + decision.superseded {
                    try sites.delete(id, .deleted, site: site, source: source)
                }
                try sites.noteIfEmpty(site)
            } else {
                for id in decision.superseded { try sites.delete(id, .deleted, site: site, source: source) }
                try sites.write(cookie, isNew: decision.outcome == .stored, site: site, source: source)
                if !endedUnseen.isEmpty { endedUnseen[cookie.id] = nil }
            }
            for eviction in decision.evicted {
                hasEvicted = true
                try sites.delete(eviction.cookie.id, .evicted, site: site, source: source)
            }
        }
    }

    private mutating func noteUnseenEnd(of cookie: Cookie, site: Octets, _ source: StoredCookie.Source) {
        guard captureID != nil, let answered = source.answered ?? source.received else { return }
        let ending = CookieEnding(cookie, answered: answered)
        if let known = endedUnseen[cookie.id], known.ending.time > ending.time { return }
        endedUnseen[cookie.id] = (site, ending)
    }
}
