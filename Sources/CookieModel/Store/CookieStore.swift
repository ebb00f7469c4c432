public import WebPrimitives

/// A cookie store in memory, which stores and sends what a browser does.
///
/// ```swift
/// var store = CookieStore()
/// let context = RequestContext(url: try RequestURL("https://www.shop.example/login"))
/// let decision = store.receive("sid=31d4; Secure; HttpOnly", in: context, now: now)
/// let retrieval = store.retrieve(for: context, now: now)
/// print(decision.outcome, retrieval.cookieString)
/// ```
///
/// It has the algorithms of the draft over cookies kept by registrable domain. A value type without a clock or a lock, for
/// simulations, tests and conversions. `CookieJar` of `SessionStore` keeps cookies on disk.
public struct CookieStore: Sendable {
    /// The rules that apply.
    public package(set) var policy: CookiePolicy
    /// The number of cookies, expired ones that were not yet evicted included.
    public private(set) var count = 0
    private var sites = SiteTable()
    /// The next place in the order of creation.
    package var nextSequence: Int64 = 1

    /// An empty store.
    public init(policy: CookiePolicy = CookiePolicy()) {
        self.policy = policy
    }

    /// A store that holds copies of cookies of another one, without those that have expired.
    package init(policy: CookiePolicy, cookies: [Cookie], now: Timestamp) {
        self.init(policy: policy)
        let alive = cookies.filter { !$0.isExpired(at: now) }
        let sites = Dictionary(grouping: alive) { $0.domain.registrableDomain(policy.publicSuffixes) }
        for (site, cookies) in sites { self[site] = SiteCookies(cookies) }
        nextSequence = min(cookies.map(\.sequence).max() ?? 0, Cookie.sequences.upperBound) + 1
    }

    /// All cookies, grouped by registrable domain.
    public var cookies: [Cookie] {
        sites.sites.sorted { $0.domain < $1.domain }.flatMap(\.cookies.cookies)
    }

    /// Receives one Set-Cookie field value (sections 5.6 and 5.7 of the draft).
    ///
    /// Linear in the length of the line and the number of cookies of the registrable domain.
    @discardableResult
    public mutating func receive(
        _ fieldValue: Octets, in context: RequestContext, now: Timestamp
    ) -> StorageDecision {
        var reasons = ReasonSet<RejectionReason>()
        guard let setCookie = SetCookie.parse(fieldValue, policy.profile, &reasons) else { return .ignored(reasons) }
        let site = context.url.host.site(policy.publicSuffixes)
        return receive(setCookie, in: context, site: site, at: now, now: now)
    }

    /// Receives one Set-Cookie field value that is text.
    @discardableResult
    public mutating func receive(
        _ fieldValue: String, in context: RequestContext, now: Timestamp
    ) -> StorageDecision {
        receive(Octets(fieldValue), in: context, now: now)
    }

    /// Receives every Set-Cookie line of a response, in order (section 5.3 of the draft).
    @discardableResult
    public mutating func receive(_ response: ReceivedResponse, now: Timestamp) -> [StorageDecision] {
        receive(response, at: now, now: now)
    }

    /// Receives every Set-Cookie line of a response that came at `time`, which may be long ago.
    package mutating func receive(
        _ response: ReceivedResponse, at time: Timestamp, now: Timestamp
    ) -> [StorageDecision] {
        // Section 5.7, step 1: Ignore the cookies of an informational response.
        guard response.setsCookies else {
            return response.setCookie.map { _ in .ignored([.informationalResponse]) }
        }
        let site = response.context.url.host.site(policy.publicSuffixes)
        return response.setCookie.map { line in
            switch SetCookie.parse(line, profile: policy.profile) {
            case .ignored(let reasons): .ignored(reasons)
            case .cookie(let setCookie): receive(setCookie, in: response.context, site: site, at: time, now: now)
            }
        }
    }

    /// Receives a cookie from another store. If the cookie is stored already, it keeps the properties that the other
    /// store cannot hold. The decision lists them.
    ///
    /// Linear in the number of cookies of the registrable domain.
    @discardableResult
    public mutating func receive(_ record: CookieRecord, now: Timestamp) -> StorageDecision {
        var (cookie, findings) = policy.candidate(for: record, now: now)
        let site = cookie.domain.registrableDomain(policy.publicSuffixes)
        var kept: CookieProperties = []
        if !record.unstated.isEmpty {
            var stored: Cookie?
            if let index = sites.index(of: site) {
                stored = sites[index].counterpart(of: cookie, leavingOpen: record.unstated, now: now)
            }
            var completed = record
            kept = completed.complete(from: stored)
            if !kept.isEmpty { (cookie, findings) = policy.candidate(for: completed, now: now) }
        }
        let reception = receive(&cookie, findings, site: site, overlaysElsewhere: false, now: now)
        var decision = StorageDecision(consume cookie, reception)
        if decision.outcome == .replaced || decision.outcome == .stored { decision.kept = kept }
        return decision
    }

    /// Receives a parsed line of a response that came at `time`, which may be long ago.
    package mutating func receive(
        _ setCookie: SetCookie, in context: RequestContext, site: WebHost.Site, at time: Timestamp, now: Timestamp
    ) -> StorageDecision {
        // Section 5.7, steps 5 to 22 but 16: Decide everything that does not depend on stored cookies.
        var (cookie, findings) = policy.candidate(for: setCookie, in: context, site: site, now: time)
        // Step 16: Ignore the cookie if it would overlay a Secure one; here, one of another registrable domain.
        let overlaysElsewhere =
            findings.mayOverlaySecureCookies
            && overlaysElsewhere(cookie, site: site.registrableDomain, now: now)
        // Steps 16, 23 and 24: Compare the cookie with those of its registrable domain, and store it.
        let reception = receive(
            &cookie, findings, site: site.registrableDomain, overlaysElsewhere: overlaysElsewhere, now: now)
        return StorageDecision(consume cookie, reception)
    }

    /// The ID of the stored cookie that a parsed line would replace or delete; `nil` if no cookie has that ID.
    package mutating func counterpart(
        of setCookie: SetCookie, in context: RequestContext, site: WebHost.Site, now: Timestamp
    ) -> Cookie.ID? {
        let cookie = policy.candidate(for: setCookie, in: context, site: site, now: now).cookie
        guard let index = sites.index(of: site.registrableDomain), sites[index].contains(cookie) else { return nil }
        return cookie.id
    }

    private mutating func receive(
        _ cookie: inout Cookie, _ findings: CandidateFindings, site: Octets, overlaysElsewhere: Bool, now: Timestamp
    ) -> Reception {
        // A copy of the domain for a new site: the original keeps the whole URL in memory.
        let index = sites.index(of: site) ?? sites.insert(SiteCookies(), for: Octets(Array(site)))
        var reception = sites[index].receive(
            &cookie, findings, overlaysElsewhere: overlaysElsewhere, sequence: &nextSequence, total: &count,
            limits: policy.limits, now: now)
        if let limit = policy.limits.totalCookies, count > limit { reception.evicted += removeExcess(limit, now: now) }
        return reception
    }

    /// Retrieves the cookies for a request (section 5.8.3 of the draft), notes the access, and says of the cookies that
    /// stay why.
    ///
    /// Expired cookies are among those that stay, and are evicted.
    public mutating func retrieve(for context: RequestContext, now: Timestamp) -> Retrieval {
        let rules = RetrievalRules(context, policy, now: now)
        guard let index = sites.index(of: rules.site) else { return Retrieval() }
        var accesses = AccessNotes()
        let retrieval = sites[index].retrieve(rules, &accesses)
        count -= sites[index].removeExpired(at: now).count
        return retrieval
    }

    /// Retrieves the cookie-string for a request (section 5.8.3 of the draft) and records the access. The cookies are
    /// those of ``retrieve(for:now:)``, without the reasons.
    ///
    /// Linear in the number of cookies of the request's registrable domain.
    public mutating func cookieString(for context: RequestContext, now: Timestamp) -> Octets {
        let rules = RetrievalRules(context, policy, now: now)
        guard let index = sites.index(of: rules.site) else { return [] }
        var accesses = AccessNotes()
        return sites[index].cookieString(rules, &accesses)
    }

    /// Removes the cookies whose persistent-flag is false, at the end of the session (section 5.7 of the draft, last
    /// paragraph).
    public mutating func endSession() {
        remove { !$0.header.isPersistent }
    }

    private mutating func remove(where isGone: (borrowing PackedCookie) -> Bool) {
        for index in sites.sites.indices { count -= sites[index].remove(where: isGone).count }
        sites.removeAll { $0.cookies.count == 0 }
    }

    /// Removes the cookies beyond the total limit: "remove excess cookies" (section 5.7 of the draft).
    private mutating func removeExcess(_ limit: Int, now: Timestamp) -> [Eviction] {
        // Priority 1: Expired cookies.
        remove { $0.hasExpired(at: now) }
        // Priorities 2 and 3: Cookies of domains with too many. This never occurs, because a new cookie limits its
        // domain at once. Priority 4: All cookies, the one with the earliest last-access-time first. Departure: before
        // them, cookies known only from requests.
        guard count > limit else { return [] }
        var ranks: [(rank: UsageRank, site: Int)] = []
        ranks.reserveCapacity(count)
        for (index, site) in sites.sites.enumerated() {
            site.cookies.forEach { cookie, _ in ranks.append((UsageRank(cookie.header), index)) }
        }
        if count - limit == 1 {
            ranks = ranks.min { $0.rank < $1.rank }.map { [$0] } ?? []
        } else {
            ranks.sort { $0.rank < $1.rank }
        }
        var evicted: [Eviction] = []
        for entry in ranks.prefix(count - limit) {
            let removed = sites[entry.site].remove { UsageRank($0.header) == entry.rank }
            evicted += removed.map { Eviction(cookie: $0, reason: .totalLimit) }
        }
        count -= evicted.count
        sites.removeAll { $0.cookies.count == 0 }
        return evicted
    }

    /// Section 5.7 of the draft, step 16, beyond the registrable domain: a cookie of a public suffix itself matches the
    /// domains below it, and the other way round, although no request carries both.
    private func overlaysElsewhere(_ cookie: borrowing Cookie, site: Octets, now: Timestamp) -> Bool {
        for above in CookiePolicy.sitesAbove(site) {
            if sites[above]?.containsSecureCookie(overlaidBy: cookie, now: now) == true { return true }
        }
        guard policy.mayHaveSitesBelow(site) else { return false }
        for below in sites.sites where CookiePolicy.sitesAbove(below.domain).contains(site) {
            if below.cookies.containsSecureCookie(overlaidBy: cookie, now: now) { return true }
        }
        return false
    }
}

/// The cookies of a site, for a store on disk that keeps some of its sites here.
extension CookieStore {
    /// The cookies of a site; `nil` if the site is not here.
    package subscript(site: Octets) -> SiteCookies? {
        get { sites[site] }
        set {
            count += (newValue?.count ?? 0) - (sites[site]?.count ?? 0)
            guard let newValue else { return sites.removeAll { $0.domain == site } }
            if let index = sites.index(of: site) {
                sites[index] = newValue
            } else {
                _ = sites.insert(newValue, for: site)
            }
        }
    }
}

/// The cookies of a store as a collection of them.
extension CookieStore: Equatable {
    /// A store that contains `cookies` as they are, without validation, such as those that ``cookies`` gave earlier.
    ///
    /// Of several cookies with the same ID, the last one counts.
    public init(_ cookies: some Sequence<Cookie>, policy: CookiePolicy = CookiePolicy()) {
        var places: [Cookie.ID: Int] = [:]
        var unique: [Cookie] = []
        for cookie in cookies {
            if let place = places[cookie.id] {
                unique[place] = cookie
            } else {
                places[cookie.id] = unique.count
                unique.append(cookie)
            }
        }
        self.init(policy: policy, cookies: unique, now: .distantPast)
    }

    /// Whether there is no cookie.
    public var isEmpty: Bool { count == 0 }

    /// Removes a cookie.
    ///
    /// - Returns: The cookie; `nil` if none has the ID.
    @discardableResult
    public mutating func remove(_ id: Cookie.ID) -> Cookie? {
        guard let index = sites.index(of: id.domain.registrableDomain(policy.publicSuffixes)) else { return nil }
        let removed = sites[index].remove { $0.hasID(id) }
        count -= removed.count
        return removed.first
    }

    /// Removes the cookies for which `isGone` holds.
    ///
    /// - Returns: The cookies that were removed.
    @discardableResult
    public mutating func removeAll(where isGone: (Cookie) -> Bool) -> [Cookie] {
        var removed: [Cookie] = []
        for index in sites.sites.indices { removed += sites[index].remove { isGone($0.cookie) } }
        count -= removed.count
        sites.removeAll { $0.cookies.count == 0 }
        return removed
    }

    /// Removes all cookies.
    public mutating func removeAll() {
        sites = SiteTable()
        count = 0
    }

    /// Whether both have the same cookies and the same rules.
    public static func == (left: CookieStore, right: CookieStore) -> Bool {
        left.count == right.count && left.policy == right.policy && Set(left.cookies) == Set(right.cookies)
    }
}
