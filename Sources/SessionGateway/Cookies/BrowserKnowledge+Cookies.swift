import CookieModel
import Synchronization
import WebPrimitives

/// The cookies that the browser has, as far as its requests tell.
extension BrowserKnowledge {
    /// What a request tells of the cookies that the browser has.
    ///
    /// The wire tells neither that a browser was started again, with or without its profile, nor in which order its
    /// requests were made. So witnesses name the browser, and the moment of the request whose response has set them.
    /// Moments are numbers that only grow.
    struct Sighting {
        /// The browser: the moment at which it had no witnesses of this scheme. `nil` if the request does not tell.
        var browser: UInt32?
        /// The browser has had its cookies since this moment, or later.
        var start: UInt32 = 0
        /// The browser has made the request after this moment; `nil` if that is not known.
        var moment: UInt32?
        /// Whether a cookie of the site itself that the request lacks is one that the browser does not have: all witnesses
        /// have come back.
        var isWhole = false
        /// The same for a cookie of a partition.
        var isWholePartition = false
        /// The registrable domain, for whose cookies browsers have a limit.
        var site: Octets = []
        /// Where the witnesses are set.
        var scope: WitnessCookies.Scope?
        var period: Int64 = 0
        /// The canary that has come.
        var canary: WitnessCookies.Mark?
        /// When the browser has sent a canary before that.
        var canaryUse: Timestamp?
    }

    /// A cookie that the browser has sent.
    struct Held {
        /// The cookie, as it sent it last.
        var pair: Octets
        /// When it lapses in the browser, as far as is known. The jar's own may have been renewed since.
        var expiry: Timestamp?
        /// The moment at which it sent it last.
        var moment: UInt32 = 0
        /// By browser: who has made a request after this moment has had the cookie before.
        var since: [UInt32: UInt32] = [:]
        /// When it came last, and the canary that came with it.
        var use = Timestamp.distantPast
        var canary: WitnessCookies.Mark?
        /// When a request first lacked it without a proof that a script has deleted it.
        var missing: Timestamp?
        /// The moment at which the jar had lost or hidden it: a response after that deletes it in the browser. `nil` while
        /// the jar has it.
        var revocation: UInt32?
        /// Whether a response may have replaced the browser's own: the jar had learned it, or has refused the new one.
        var mayBeReplaced = false
    }

    /// From how many cookies of a site on a missing one may be one that the browser has removed for others, and the jar
    /// learns no more. The limits of Chromium, Firefox and the jar are about 180, and not all cookies of a site are seen.
    fileprivate static let crowd = 100
    /// For how long the jar keeps a cookie that the browser may have removed for others, in seconds.
    private static let patience: Int64 = 86_400
    /// How much earlier than the canary a cookie may have been used, in seconds: browsers note a use only if the one before
    /// it was longer ago.
    fileprivate static let accessThreshold: Int64 = 60
    /// After how long without use a browser may remove a cookie for those of other sites, in seconds. Chromium and Firefox
    /// do after 30 days.
    fileprivate static let idleLimit: Int64 = 28 * 86_400

    /// Notes the cookies that the browser has sent.
    func note(_ cookies: [Cookie], of sighting: Sighting, now: Timestamp) {
        state.withLock { state in
            if state.held.count > BrowserKnowledge.limit { state.held = [:] }
            var isNews = false
            for cookie in cookies {
                let former = state.held[cookie.id]
                var held = former.flatMap { $0.pair == cookie.pair ? $0 : nil } ?? Held(pair: cookie.pair)
                if held.since.isEmpty { held.expiry = cookie.expiry }
                if let browser = sighting.browser, held.since[browser] == nil {
                    if !isNews { state.advance() }
                    isNews = true
                    // That of a browser over https, of the same over http, and of some before them.
                    if held.since.count > 8 { held.since = [:] }
                    held.since[browser] = state.moment
                }
                held.moment = state.moment
                (held.use, held.canary) = (now, sighting.canary)
                held.missing = nil
                (held.revocation, held.mayBeReplaced) = (nil, false)
                state.held[cookie.id] = held
            }
            guard isNews, let scope = sighting.scope else { return }
            if state.renewals.count > BrowserKnowledge.limit { state.renewals = [:] }
            state.renewals[scope.domain] = state.moment
        }
    }

    /// A witness for the response to a request, by which requests after it tell that they are younger; `nil` if there is no
    /// need.
    func renewal(of sighting: Sighting) -> Octets? {
        state.withLock { state in
            // A browser refuses a witness of this class from a request of another site.
            guard sighting.isWhole, let scope = sighting.scope, let browser = sighting.browser,
                let moment = sighting.moment, let renewal = state.renewals[scope.domain], moment < renewal
            else { return nil }
            let mark = WitnessCookies.Mark(browser: browser, moment: state.moment, period: sighting.period)
            return witnesses.line(.strict, mark, in: scope)
        }
    }

    /// Whether a script has deleted a cookie that a request lacks.
    ///
    /// Everything else that ends a cookie in a browser ends nothing in the jar: that it was started again, has lost its
    /// profile, has removed the cookie for others, or has let it lapse while the jar's was renewed. So the witnesses have
    /// to show that this browser has sent the cookie, as the jar has it, before it made the request.
    func hasDeleted(_ cookie: Cookie, in sighting: Sighting, now: Timestamp) -> Bool {
        // Scripts do not see these.
        guard !cookie.isHTTPOnly,
            cookie.id.partitionKey == nil ? sighting.isWhole : sighting.isWhole && sighting.isWholePartition,
            let browser = sighting.browser, let moment = sighting.moment
        else { return false }
        return state.withLock { state in
            guard state.moment < .max, let held = state.held[cookie.id], held.pair == cookie.pair,
                held.revocation == nil, let since = held.since[browser], since <= moment
            else { return false }
            if let expiry = held.expiry, expiry <= now { return false }
            if state.canaryProves(cookie, held, sighting, now: now) { return true }
            let first = held.missing ?? now
            state.held[cookie.id]?.missing = first
            return first.advanced(bySeconds: BrowserKnowledge.patience) <= now
        }
    }

    /// How many more cookies of scripts the jar may learn of a site: with more than its limit, it would lose others.
    ///
    /// - Parameter known: How many cookies of the browser's are in the jar, as far as the request shows.
    func room(for sighting: Sighting, beside known: Int) -> Int {
        state.withLock { max(0, BrowserKnowledge.crowd - max(known, $0.count(of: sighting.site))) }
    }

    /// Notes that the browser has cookies no more. If the jar gets one anew, it is another one.
    func noteDeleted(_ ids: [Cookie.ID]) {
        state.withLock { state in for id in ids { state.held[id] = nil } }
    }

    /// Returns the value that the browser last sent for a cookie; `nil` if it never sent one.
    func lastSent(_ id: Cookie.ID) -> Octets? {
        state.withLock { $0.held[id]?.pair }
    }

    /// Notes whether a server has given a cookie a `Priority` of its own.
    func notePriority(_ isSet: Bool, of id: Cookie.ID) {
        state.withLock { state in
            if !isSet {
                state.prioritized.remove(id)
            } else if state.prioritized.count < BrowserKnowledge.limit {
                state.prioritized.insert(id)
            }
        }
    }

    /// Notes the cookies that a response sets in the browser.
    func noteGiven(_ ids: [Cookie.ID]) {
        guard !ids.isEmpty else { return }
        state.withLock { state in
            if state.given.count > BrowserKnowledge.limit { state.given = [:] }
            for id in ids {
                state.given[id] = state.moment
                // Requests that lack the new one may be older than it.
                state.held[id]?.since = [:]
                state.held[id]?.revocation = nil
                state.held[id]?.mayBeReplaced = false
            }
        }
    }

    /// The cookies among `ids` that the browser of a request has, or could have if it wanted.
    func known(_ ids: [Cookie.ID], in sighting: Sighting) -> Set<Cookie.ID> {
        state.withLock { state in
            Set(
                ids.filter { id in
                    let held = state.held[id].flatMap { $0.revocation == nil ? $0.moment : nil }
                    return [held, state.given[id]].contains { $0.map { $0 >= sighting.start } == true }
                })
        }
    }

    /// Forgets what the browser has cleared for a site: its cookies, and the witnesses with them.
    func forget(_ url: RequestURL) {
        let scope = scope(of: url)
        state.withLock { $0.forget(scope) }
    }
}

extension BrowserKnowledge.State {
    /// What a request tells of the cookies that the browser has.
    mutating func sighting(
        of echo: WitnessCookies.Echo, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence, now: Timestamp
    ) -> BrowserKnowledge.Sighting {
        if browsers.count > BrowserKnowledge.limit { browsers = [:] }
        var sighting = BrowserKnowledge.Sighting()
        sighting.scope = scope
        sighting.isWhole = echo.isWhole(in: scope)
        sighting.isWholePartition = echo.marks[.partitioned] != nil
        sighting.moment = echo.dated.map(\.moment).max()
        sighting.browser = echo.dated.map(\.browser).min()
        // The witnesses that the browser gets without any are those of a new one, which it may be.
        if sighting.browser == nil { advance() }
        if echo.marks[.strict] != nil {
            browsers[scope] = sighting.browser
        } else if evidence.isDocument, echo.marks.isEmpty {
            browsers[scope] = moment
        }
        sighting.start = sighting.browser ?? browsers[scope] ?? 0
        if let canary = echo.canary {
            if canaryUses.count > BrowserKnowledge.limit { canaryUses = [:] }
            (sighting.canary, sighting.canaryUse) = (canary, canaryUses[scope])
            canaryUses[scope] = now
        }
        return sighting
    }

    /// Whether the canary shows that a browser has not removed a cookie to make room: it would have removed the canary
    /// before it.
    ///
    /// Of a registrable domain's cookies, Chromium and Firefox remove those without Secure first, then those that were
    /// used least recently. The canary has no Secure, and the priority that cookies have by default.
    fileprivate func canaryProves(
        _ cookie: Cookie, _ held: BrowserKnowledge.Held, _ sighting: BrowserKnowledge.Sighting, now: Timestamp
    ) -> Bool {
        // A canary that was set since the cookie came would be the last to go.
        guard let canary = sighting.canary, held.canary == canary,
            sighting.canaryUse.map({ $0 <= held.use.advanced(bySeconds: BrowserKnowledge.accessThreshold) }) ?? true,
            now < held.use.advanced(bySeconds: BrowserKnowledge.idleLimit),
            // Browsers have limits of their own for a partition. Chromium removes cookies of other priorities earlier.
            cookie.id.partitionKey == nil, !prioritized.contains(cookie.id),
            prioritized.count < BrowserKnowledge.limit
        else { return false }
        return count(of: sighting.site) < BrowserKnowledge.crowd
    }

    /// How many cookies of a site the browser is known to have.
    fileprivate func count(of site: Octets) -> Int {
        Set(held.keys).union(given.keys).count { $0.isOfSite(site) }
    }

    /// Begins the next moment.
    mutating func advance() {
        if moment < .max { moment += 1 }
    }

    /// Forgets what the browser has cleared with the witnesses of a site.
    mutating func forget(_ scope: WitnessCookies.Scope) {
        known[scope] = nil
        func isOfScope(_ id: Cookie.ID) -> Bool {
            scope.isHostOnly ? id.domain.octets == scope.domain : id.isOfSite(scope.domain)
        }
        held = held.filter { !isOfScope($0.key) }
        given = given.filter { !isOfScope($0.key) }
        copies = copies.mapValues { $0.filter { !isOfScope($0) } }.filter { !$0.value.isEmpty }
    }
}

extension Cookie.ID {
    /// Whether the cookie is one of a registrable domain.
    fileprivate func isOfSite(_ site: Octets) -> Bool {
        let octets = domain.octets
        return octets == site
            || octets.count > site.count && octets.bytes.suffix(site.count + 1) == [ASCII.dot] + site.bytes
    }
}
