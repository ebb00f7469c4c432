import CookieModel
import Synchronization
import WebPrimitives

/// The cookies that the browser has, as far as its requests show.
extension BrowserKnowledge {
    /// What a request shows about the browser's cookies.
    ///
    /// A request shows neither that a browser was restarted, with or without its profile, nor the order in which
    /// requests were made. So witnesses name the browser, and the moment of the request whose response has set them.
    /// Moments are increasing numbers.
    struct Observation {
        /// The browser, identified by the moment at which it had no witnesses of this scheme; `nil` if the request does
        /// not show it.
        var browser: UInt32?
        /// The browser has received its cookies at this moment or later.
        var start: UInt32 = 0
        /// The browser has made the request after this moment; `nil` if that is unknown.
        var moment: UInt32?
        /// Whether the browser lacks every cookie of the site itself that the request lacks: all witnesses have come
        /// back.
        var isWhole = false
        /// The same for a cookie of a partition.
        var isWholePartition = false
        /// The registrable domain. Browsers limit its cookies.
        var site: Octets = []
        /// The scope of the witnesses.
        var scope: WitnessCookies.Scope?
        var period: Int64 = 0
        /// The canary in the request.
        var canary: WitnessCookies.Mark?
        /// When the browser last sent a canary before that.
        var canaryUse: Timestamp?
    }

    /// A cookie that the browser has sent.
    struct BrowserCookie {
        /// The pair that the browser last sent.
        var pair: Octets
        /// When it expires in the browser, as far as is known. The jar's may have been renewed since.
        var expiry: Timestamp?
        /// The moment at which the browser last sent it.
        var moment: UInt32 = 0
        /// A moment for each browser. A browser that has made a request after this moment had the cookie before.
        var since: [UInt32: UInt32] = [:]
        /// When the browser last sent it, and the canary that came with it.
        var use = Timestamp.distantPast
        var canary: WitnessCookies.Mark?
        /// When a request first lacked it, without proof that a script has deleted it.
        var missing: Timestamp?
        /// The moment at which the jar lost or hid it, after which a response deletes it in the browser; `nil` while
        /// the jar has it.
        var revocation: UInt32?
        /// Whether a response may have replaced the browser's own, because the jar had learned it or has rejected the
        /// new one.
        var mayBeReplaced = false
    }

    /// The number of cookies of a site from which the browser may have removed a missing one to make room, and the jar
    /// learns no more. The limits of Chromium, Firefox and the jar are about 180, and the gateway does not see all
    /// cookies of a site.
    fileprivate static let crowd = 100
    /// For how long the jar keeps a cookie that the browser may have removed to make room, in seconds.
    private static let patience: Int64 = 86_400
    /// How much earlier than the canary a cookie may have been used, in seconds. Browsers record a use only if the
    /// previous one was longer ago.
    fileprivate static let accessThreshold: Int64 = 60
    /// The time without use after which a browser may remove a cookie for those of other sites, in seconds. Chromium
    /// and Firefox do so after 30 days.
    fileprivate static let idleLimit: Int64 = 28 * 86_400

    /// Records the cookies that the browser has sent.
    func note(_ cookies: [Cookie], of observation: Observation, now: Timestamp) {
        state.withLock { state in
            if state.held.count > BrowserKnowledge.limit { state.held = [:] }
            var isNews = false
            for cookie in cookies {
                let former = state.held[cookie.id]
                var held = former.flatMap { $0.pair == cookie.pair ? $0 : nil } ?? BrowserCookie(pair: cookie.pair)
                if held.since.isEmpty { held.expiry = cookie.expiry }
                if let browser = observation.browser, held.since[browser] == nil {
                    if !isNews { state.advance() }
                    isNews = true
                    // One entry for a browser over https, one for the same over http, and some for earlier browsers.
                    if held.since.count > 8 { held.since = [:] }
                    held.since[browser] = state.moment
                }
                held.moment = state.moment
                (held.use, held.canary) = (now, observation.canary)
                held.missing = nil
                (held.revocation, held.mayBeReplaced) = (nil, false)
                state.held[cookie.id] = held
            }
            guard isNews, let scope = observation.scope else { return }
            if state.renewals.count > BrowserKnowledge.limit { state.renewals = [:] }
            state.renewals[scope.domain] = state.moment
        }
    }

    /// A witness for the response to a request. Later requests carry it, which shows that they are newer. `nil` if it
    /// is not needed.
    func renewal(of observation: Observation) -> Octets? {
        state.withLock { state in
            // A browser rejects a witness of this class in the response to a request of another site.
            guard observation.isWhole, let scope = observation.scope, let browser = observation.browser,
                let moment = observation.moment, let renewal = state.renewals[scope.domain], moment < renewal
            else { return nil }
            let mark = WitnessCookies.Mark(browser: browser, moment: state.moment, period: observation.period)
            return witnesses.line(.strict, mark, in: scope)
        }
    }

    /// Whether a script has deleted a cookie that a request lacks.
    ///
    /// Everything else that ends a cookie in a browser ends nothing in the jar: a restart, the loss of the profile, the
    /// removal of the cookie to make room, or its expiry while the jar's was renewed. So the witnesses have to show
    /// that this browser has sent the cookie, as the jar has it, before it made the request.
    func hasDeleted(_ cookie: Cookie, in observation: Observation, now: Timestamp) -> Bool {
        // Scripts do not see these cookies.
        guard !cookie.isHTTPOnly,
            cookie.id.partitionKey == nil ? observation.isWhole : observation.isWhole && observation.isWholePartition,
            let browser = observation.browser, let moment = observation.moment
        else { return false }
        return state.withLock { state in
            guard state.moment < .max, let held = state.held[cookie.id], held.pair == cookie.pair,
                held.revocation == nil, let since = held.since[browser], since <= moment
            else { return false }
            if let expiry = held.expiry, expiry <= now { return false }
            if state.canaryProves(cookie, held, observation, now: now) { return true }
            let first = held.missing ?? now
            state.held[cookie.id]?.missing = first
            return first.advanced(bySeconds: BrowserKnowledge.patience) <= now
        }
    }

    /// How many more cookies of a site the jar may learn from scripts. Beyond its limit, it would lose others.
    ///
    /// - Parameter known: How many of the browser's cookies the jar has, as far as the request shows.
    func room(for observation: Observation, beside known: Int) -> Int {
        state.withLock { max(0, BrowserKnowledge.crowd - max(known, $0.count(of: observation.site))) }
    }

    /// Records that the browser no longer has cookies. If the jar gets one again, it is another cookie.
    func noteDeleted(_ ids: [Cookie.ID]) {
        state.withLock { state in for id in ids { state.held[id] = nil } }
    }

    /// Returns the value that the browser last sent for a cookie; `nil` if it never sent one.
    func lastSent(_ id: Cookie.ID) -> Octets? {
        state.withLock { $0.held[id]?.pair }
    }

    /// Records whether a server has given a cookie a `Priority`.
    func notePriority(_ isSet: Bool, of id: Cookie.ID) {
        state.withLock { state in
            if !isSet {
                state.prioritized.remove(id)
            } else if state.prioritized.count < BrowserKnowledge.limit {
                state.prioritized.insert(id)
            }
        }
    }

    /// Records the cookies that a response sets in the browser.
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

    /// The cookies among `ids` that the browser of a request has received, whether it has stored them or not.
    func known(_ ids: [Cookie.ID], in observation: Observation) -> Set<Cookie.ID> {
        state.withLock { state in
            Set(
                ids.filter { id in
                    let held = state.held[id].flatMap { $0.revocation == nil ? $0.moment : nil }
                    return [held, state.given[id]].contains { $0.map { $0 >= observation.start } == true }
                })
        }
    }

    /// Forgets everything that the browser has cleared for a site: its cookies and its witnesses.
    func forget(_ url: RequestURL) {
        let scope = scope(of: url)
        state.withLock { $0.forget(scope) }
    }
}

extension BrowserKnowledge.State {
    /// What a request shows about the browser's cookies.
    mutating func observation(
        of returned: WitnessCookies.ReturnedWitnesses, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence,
        now: Timestamp
    ) -> BrowserKnowledge.Observation {
        if browsers.count > BrowserKnowledge.limit { browsers = [:] }
        var observation = BrowserKnowledge.Observation()
        observation.scope = scope
        observation.isWhole = returned.isWhole(in: scope)
        observation.isWholePartition = returned.marks[.partitioned] != nil
        observation.moment = returned.dated.map(\.moment).max()
        observation.browser = returned.dated.map(\.browser).min()
        // A browser without witnesses may be a new one, so it gets witnesses of a new browser.
        if observation.browser == nil { advance() }
        if returned.marks[.strict] != nil {
            browsers[scope] = observation.browser
        } else if evidence.isDocument, returned.marks.isEmpty {
            browsers[scope] = moment
        }
        observation.start = observation.browser ?? browsers[scope] ?? 0
        if let canary = returned.canary {
            if canaryUses.count > BrowserKnowledge.limit { canaryUses = [:] }
            (observation.canary, observation.canaryUse) = (canary, canaryUses[scope])
            canaryUses[scope] = now
        }
        return observation
    }

    /// Whether the canary shows that a browser has not removed a cookie to make room, because it would have removed the
    /// canary first.
    ///
    /// Of a registrable domain's cookies, Chromium and Firefox remove those without Secure first, then those that were
    /// used least recently. The canary has no Secure, and the default priority.
    fileprivate func canaryProves(
        _ cookie: Cookie, _ held: BrowserKnowledge.BrowserCookie, _ observation: BrowserKnowledge.Observation,
        now: Timestamp
    ) -> Bool {
        // A canary that was set after the cookie was last sent would be the last to be removed.
        guard let canary = observation.canary, held.canary == canary,
            observation.canaryUse.map({ $0 <= held.use.advanced(bySeconds: BrowserKnowledge.accessThreshold) }) ?? true,
            now < held.use.advanced(bySeconds: BrowserKnowledge.idleLimit),
            // Browsers have other limits for a partition. Chromium removes cookies with other priorities earlier.
            cookie.id.partitionKey == nil, !prioritized.contains(cookie.id),
            prioritized.count < BrowserKnowledge.limit
        else { return false }
        return count(of: observation.site) < BrowserKnowledge.crowd
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
