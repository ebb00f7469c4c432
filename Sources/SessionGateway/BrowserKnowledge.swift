import CookieModel
import Crypto
import PublicSuffix
import Synchronization
import WebPrimitives

/// The gateway's knowledge of the one browser that sends all its requests through it.
///
/// The wire does not tell which cookies a browser would send: `Sec-Fetch` fields name neither the page in the address bar
/// nor omitted credentials. So the browser gets cookies of the gateway's own, ``WitnessCookies``, and those that come back
/// are its verdict. Until they are known, the strictest reading of the `Sec-Fetch` fields decides.
final class BrowserKnowledge: Sendable {
    /// The properties of a request, besides its cookies.
    struct Request {
        let url: RequestURL
        let method: String
        let cookies: [Octets]
        /// The value of a field, whose name is in lower case, as text.
        let field: (StaticString) -> String?
    }

    /// The conclusions for a request.
    struct Judgement {
        let verdict: EngineVerdict
        /// The same for the cookies that the response sets.
        let storage: EngineVerdict
        /// Whether the request navigates the tab.
        let isTopLevelNavigation: Bool
        /// What the request tells of the cookies that the browser has.
        let sighting: Sighting
        /// The browser's other cookies, in their order.
        let cookies: [Octets]
        /// The Set-Cookie lines that the response gets for the browser.
        let lines: [Octets]
    }

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
        fileprivate var scope: WitnessCookies.Scope?
        fileprivate var period: Int64 = 0
    }

    /// A cookie that the browser has sent.
    fileprivate struct Held {
        /// The cookie, as it sent it last.
        var pair: Octets
        /// When it lapses in the browser, as far as is known. The jar's own may have been renewed since.
        var expiry: Timestamp?
        /// The moment at which it sent it last.
        var moment: UInt32 = 0
        /// By browser: who has made a request after this moment has had the cookie before.
        var since: [UInt32: UInt32] = [:]
    }

    fileprivate struct State {
        /// The last moment.
        var moment: UInt32 = 0
        /// The browser, by where its witnesses are set.
        var browsers: [WitnessCookies.Scope: UInt32] = [:]
        /// By domain: a request with a witness of this moment is younger than all that is known of the cookies.
        var renewals: [Octets: UInt32] = [:]
        /// The kinds that the browser has sent in each scope since its last page without witnesses.
        var known: [WitnessCookies.Scope: Set<WitnessCookies.Kind>] = [:]
        /// The partitions by the number in their witness.
        var partitions: [PartitionID: PartitionKey] = [:]
        var claims: [PartitionClaim: (number: UInt64, time: Timestamp)] = [:]
        /// Whether pages of other sites are known to share a site's cookies.
        var sharesWithThirdParties = false
        /// The numbers of `SameSite=None` witnesses that were set elsewhere, and that a site's own page has sent: they are
        /// among the site's own cookies.
        var ownContexts: Set<UInt64> = []
        /// The numbers of those that were set in pages of other sites.
        var foreignContexts: Set<UInt64> = []
        /// The origins whose pages were in tabs, and those whose pages were in frames of other sites.
        var pages: (inTabs: Set<String>, inFrames: Set<String>) = ([], [])
        /// Whether cookies without SameSite go wherever those with `SameSite=None` do.
        var treatsDefaultAsNone = false
        /// The cookies that the browser has sent, as it did last: it knows them itself.
        var held: [Cookie.ID: Held] = [:]
        /// The cookies that responses have set in the browser, and when. If it does not send one, it has refused or lost it.
        var given: [Cookie.ID: UInt32] = [:]
    }

    fileprivate struct PartitionID: Hashable {
        let domain: Octets
        let number: UInt64
    }

    fileprivate struct PartitionClaim: Hashable {
        let domain: Octets
        let key: PartitionKey
    }

    /// For how many sites, partitions and cookies something is known. Beyond that, all of it is learned anew.
    private static let limit = 20_000
    /// From how many cookies of a site on a missing one may be one that the browser has removed for others. The limits of
    /// Chromium and Firefox are about 180, and not all cookies of a site are seen.
    private static let crowd = 100

    private let witnesses: WitnessCookies
    private let suffixes: PublicSuffixList
    /// Whether requests of a host are seen.
    private let sees: @Sendable (WebHost) -> Bool
    private let random: @Sendable () -> UInt64
    private let state = Mutex(State())

    /// Creates the knowledge of a browser that nothing is known of.
    ///
    /// - Parameters:
    ///   - sees: Whether the gateway reads the https requests of a host.
    init(
        _ suffixes: PublicSuffixList, key: SymmetricKey = SymmetricKey(size: .bits256),
        random: @escaping @Sendable () -> UInt64 = { .random(in: 1 ... .max) },
        sees: @escaping @Sendable (WebHost) -> Bool
    ) {
        witnesses = WitnessCookies(key: key)
        self.suffixes = suffixes
        self.random = random
        self.sees = sees
    }

    /// Whether a Set-Cookie line of a server would replace a witness.
    func isWitness(_ line: Octets) -> Bool { witnesses.isWitness(line) }

    /// Notes the cookies that the browser has sent.
    ///
    /// - Returns: A witness for the response, by which requests after it tell that they are younger; `nil` if there is no
    ///   need.
    func note(_ cookies: [Cookie], of sighting: Sighting) -> Octets? {
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
                state.held[cookie.id] = held
            }
            guard let scope = sighting.scope else { return nil }
            if isNews {
                if state.renewals.count > BrowserKnowledge.limit { state.renewals = [:] }
                state.renewals[scope.domain] = state.moment
            }
            // A browser refuses a witness of this class from a request of another site.
            guard sighting.isWhole, let browser = sighting.browser, let moment = sighting.moment,
                let renewal = state.renewals[scope.domain], moment < renewal
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
                let since = held.since[browser], since <= moment
            else { return false }
            if let expiry = held.expiry, expiry <= now { return false }
            let ids = Set(state.held.keys).union(state.given.keys)
            return ids.count { $0.isOfSite(sighting.site) } < BrowserKnowledge.crowd
        }
    }

    /// Notes that the browser has cookies no more. If the jar gets one anew, it is another one.
    func noteDeleted(_ ids: [Cookie.ID]) {
        state.withLock { state in for id in ids { state.held[id] = nil } }
    }

    /// Returns the value that the browser last sent for a cookie; `nil` if it never sent one.
    func lastSent(_ id: Cookie.ID) -> Octets? {
        state.withLock { $0.held[id]?.pair }
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
            }
        }
    }

    /// The cookies among `ids` that the browser of a request has, or could have if it wanted.
    func known(_ ids: [Cookie.ID], in sighting: Sighting) -> Set<Cookie.ID> {
        state.withLock { state in
            Set(
                ids.filter { id in
                    [state.held[id]?.moment, state.given[id]].contains { $0.map { $0 >= sighting.start } == true }
                })
        }
    }

    /// Forgets what the browser has cleared for a site: its cookies, and the witnesses with them.
    func forget(_ url: RequestURL) {
        let scope = scope(of: url)
        state.withLock { $0.forget(scope) }
    }

    /// Judges a request.
    func judge(_ request: Request, now: Timestamp) -> Judgement {
        let scope = scope(of: request.url)
        let period = now.seconds / WitnessCookies.period
        let echo = witnesses.read(request.cookies, in: scope, period: period)
        let evidence = FetchEvidence(request, suffixes)
        guard !evidence.isPreflight else {
            return Judgement(
                verdict: .init([], source: .nothing), storage: .init([], source: .nothing), isTopLevelNavigation: false,
                sighting: Sighting(), cookies: echo.others, lines: [])
        }
        return state.withLock { state in
            if state.known.count > BrowserKnowledge.limit { state.known = [:] }
            state.notePage(request.url, evidence)
            let reading = state.read(echo, scope, evidence, period: period)
            var verdict = EngineVerdict(reading.classes, source: reading.source)
            // A first-party context shares cookies with the site's own pages.
            let isOwn = reading.classes.contains(.strict) || evidence.isDocument
            var sighting = state.sighting(of: echo, scope, evidence)
            let mark = WitnessCookies.Mark(
                browser: sighting.browser ?? state.moment, moment: state.moment, period: period)
            var lines = self.lines(for: echo, scope, evidence, isOwn: isOwn, mark)
            (sighting.site, sighting.period) = (request.url.host.registrableDomain(suffixes), period)
            var storage = verdict
            // The first page of a site over http: nothing tells a tab's page from a frame. It gets no cookies, but may set
            // them.
            let isFirstPage = !scope.isEncrypted && evidence.isPageRequest && state.known[scope] == nil
            if isFirstPage { storage.classes = [.none, .lax, .default] }
            if scope.isEncrypted, !echo.isForged {
                if let mark = echo.marks[.partitioned] {
                    verdict.partition = state.partitions[PartitionID(domain: scope.domain, number: mark.context)]
                    storage.partition = verdict.partition
                } else if let page = isOwn ? request.url : evidence.referrer {
                    let key = PartitionKey(topLevelSite: site(of: page), hasCrossSiteAncestor: !isOwn)
                    if let number = state.number(for: key, of: scope.domain, or: random(), now: now) {
                        let mark = WitnessCookies.Mark(context: number, period: period)
                        if let line = witnesses.line(.partitioned, mark, in: scope) { lines.append(line) }
                        // If nothing has come back at all, the request may be without credentials.
                        if !reading.classes.isEmpty { storage.partition = key }
                        // A page of its own gets what an earlier profile has left; a frame what the browser has.
                        if isOwn { verdict.partition = storage.partition }
                    }
                }
            }
            return Judgement(
                verdict: verdict, storage: storage,
                isTopLevelNavigation: evidence.isDocument || isFirstPage
                    || !scope.isEncrypted && reading.classes.contains(.lax) && !reading.classes.contains(.strict),
                sighting: sighting, cookies: echo.others, lines: lines)
        }
    }

    /// Where the witnesses of a host are set: for its whole site only if the gateway sees all of it. Otherwise they would
    /// travel through tunnels, where others could read them.
    private func scope(of url: RequestURL) -> WitnessCookies.Scope {
        let isEncrypted = url.scheme.isCryptographic
        let site = url.host.registrableDomain(suffixes)
        let apex = WebHost(String(decoding: site, as: UTF8.self))
        let other = WebHost("crumb-witness.\(String(decoding: site, as: UTF8.self))")
        let seesAll = apex.map(sees) == true && other.map(sees) == true
        guard seesAll, url.host.kind == .domain, !url.host.isPublicSuffix(suffixes) else {
            return WitnessCookies.Scope(domain: url.host.octets, isHostOnly: true, isEncrypted: isEncrypted)
        }
        return WitnessCookies.Scope(domain: site, isHostOnly: false, isEncrypted: isEncrypted)
    }

    private func site(of url: RequestURL) -> String { SchemefulSite(url, suffixes).description }

    /// The witnesses that are missing, or old.
    private func lines(
        for echo: WitnessCookies.Echo, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence, isOwn: Bool,
        _ new: WitnessCookies.Mark
    ) -> [Octets] {
        // On http they need a site whose https requests are seen: others would go through tunnels.
        guard
            scope.isEncrypted || !scope.isHostOnly
                || WebHost(String(decoding: scope.domain, as: UTF8.self)).map(sees) == true
        else { return [] }
        return WitnessCookies.Kind.allCases.compactMap { kind in
            let mark = echo.marks[kind]
            if let mark, mark.period == new.period { return nil }
            switch kind {
            case .partitioned where mark == nil: return nil
            // A browser refuses these from a request of another site.
            case .lax, .strict, .default: if mark == nil, !isOwn, !echo.marks.isEmpty { return nil }
            case .none, .partitioned: break
            }
            var line = new
            if kind == .none || kind == .partitioned { line.context = mark?.context ?? (isOwn ? 0 : random()) }
            return witnesses.line(kind, line, in: scope)
        }
    }
}

extension BrowserKnowledge.State {
    /// The classes of cookies that a request carries, and how that is known.
    fileprivate mutating func read(
        _ echo: WitnessCookies.Echo, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence, period: Int64
    ) -> (classes: EngineVerdict.Classes, source: EngineVerdict.Source) {
        let marks = echo.marks
        guard !echo.isForged else { return ([], .witness) }
        // Without https, no field tells anything: only what came back counts.
        if !scope.isEncrypted {
            let classes: EngineVerdict.Classes =
                marks[.strict] != nil && marks[.lax] != nil
                ? .all : marks[.strict] == nil && marks[.lax] != nil ? [.none, .lax, .default] : []
            if !marks.isEmpty { known[scope] = Set(marks.keys) }
            return (classes, marks.isEmpty ? .nothing : .witness)
        }
        // A tab's page always carries its witnesses: without them, the browser has lost them all.
        if marks.isEmpty, evidence.isDocument { known[scope] = nil }
        let former = known[scope] ?? []
        let kinds = former.union(marks.keys)
        guard !kinds.isEmpty else { return (evidence.classes, evidence.isDocument ? .fetchMetadata : .nothing) }
        known[scope] = kinds
        // A witness that has never come back is not refused but unknown: for a tab's page, the fields show the rest.
        func has(_ kind: WitnessCookies.Kind, _ kindClass: EngineVerdict.Classes) -> Bool {
            marks[kind] != nil || !kinds.contains(kind) && evidence.classes.contains(kindClass)
        }
        var classes: EngineVerdict.Classes = []
        if let mark = marks[.none] {
            let isOwn = evidence.isDocument || marks[.strict] != nil
            learn(mark, evidence, isOwn: isOwn)
            // One that was set in a page of another site may be for that page alone.
            if mark.context == 0 || sharesWithThirdParties || isOwn || ownContexts.contains(mark.context) {
                classes.insert(.none)
            }
        } else if has(.none, .none) {
            classes.insert(.none)
        }
        if has(.lax, .lax) { classes.insert(.lax) }
        if has(.strict, .strict) { classes.insert(.strict) }
        // No browser sends a stricter class without the laxer ones.
        if classes.contains(.strict) && !classes.contains(.lax) || classes.contains(.lax) && !classes.contains(.none) {
            return ([], .witness)
        }
        if classes.contains(.lax) {
            classes.insert(.default)
        } else if marks[.default] != nil {
            if !evidence.isDocument { treatsDefaultAsNone = true }
            if treatsDefaultAsNone {
                if classes.contains(.none) { classes.insert(.default) }
            } else {
                classes.insert(.recentDefault)
            }
        }
        // An old witness cannot say more than the fields do.
        if marks.values.contains(where: { period - $0.period > 1 }) {
            classes.formIntersection(evidence.isDocument ? evidence.classes : evidence.isSameSite ? .all : [.none])
        }
        return (classes, .witness)
    }

    /// What a request tells of the cookies that the browser has.
    fileprivate mutating func sighting(
        of echo: WitnessCookies.Echo, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence
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
        return sighting
    }

    /// Begins the next moment.
    fileprivate mutating func advance() {
        if moment < .max { moment += 1 }
    }

    /// Forgets what the browser has cleared with the witnesses of a site.
    fileprivate mutating func forget(_ scope: WitnessCookies.Scope) {
        known[scope] = nil
        func isOfScope(_ id: Cookie.ID) -> Bool {
            scope.isHostOnly ? id.domain.octets == scope.domain : id.isOfSite(scope.domain)
        }
        held = held.filter { !isOfScope($0.key) }
        given = given.filter { !isOfScope($0.key) }
    }

    /// Learns from a `SameSite=None` witness whether sites share their cookies with pages of other sites.
    ///
    /// A mark of a site's own page proves nothing in a frame of another site inside a page of the first one: browsers
    /// that keep the cookies of third parties apart let the two share. Neither is it after a redirect by another site. The
    /// page in the address bar is not on the wire, so only pages that were in tabs, and never in frames, count.
    private mutating func learn(_ mark: WitnessCookies.Mark, _ evidence: FetchEvidence, isOwn: Bool) {
        if evidence.isDocument, mark.context != 0 {
            if foreignContexts.contains(mark.context) { sharesWithThirdParties = true }
            if ownContexts.count > BrowserKnowledge.limit { ownContexts = [] }
            ownContexts.insert(mark.context)
        }
        // A page can also lead a frame of another tab somewhere.
        guard !isOwn, !evidence.isForeignFrame, let origin = evidence.foreignPage.map(Self.origin),
            pages.inTabs.contains(origin), !pages.inFrames.contains(origin)
        else { return }
        if mark.context == 0 {
            sharesWithThirdParties = true
        } else {
            if foreignContexts.count > BrowserKnowledge.limit { foreignContexts = [] }
            foreignContexts.insert(mark.context)
        }
    }

    /// Notes where the pages of an origin are shown.
    fileprivate mutating func notePage(_ url: RequestURL, _ evidence: FetchEvidence) {
        guard evidence.isDocument || evidence.isForeignFrame else { return }
        // A page that is not known to have been in a tab proves nothing.
        if pages.inTabs.count + pages.inFrames.count > BrowserKnowledge.limit { pages.inTabs = [] }
        if pages.inFrames.count > BrowserKnowledge.limit { pages = ([], []) }
        if evidence.isDocument {
            pages.inTabs.insert(Self.origin(url))
        } else {
            pages.inFrames.insert(Self.origin(url))
        }
    }

    private static func origin(_ url: RequestURL) -> String { "\(url.scheme)://\(url.host):\(url.port)" }

    /// A number for a partition that has none yet; `nil` if another one has its name.
    ///
    /// The page in the address bar is not on the wire: the name is that of the page that the request names. Where that is a
    /// frame in another page, the partition would get the name of another one, and has none.
    fileprivate mutating func number(
        for key: PartitionKey, of domain: Octets, or number: UInt64, now: Timestamp
    ) -> UInt64? {
        if partitions.count > BrowserKnowledge.limit { (partitions, claims) = ([:], [:]) }
        let claim = BrowserKnowledge.PartitionClaim(domain: domain, key: key)
        if let former = claims[claim] {
            // Several requests of one page begin at the same time. A site's own pages have one partition.
            return now < former.time.advanced(bySeconds: 60) || !key.hasCrossSiteAncestor ? former.number : nil
        }
        claims[claim] = (number, now)
        partitions[BrowserKnowledge.PartitionID(domain: domain, number: number)] = key
        return number
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
