import CookieModel
import Crypto
import PublicSuffix
import Synchronization
import WebPrimitives

/// The gateway's knowledge of the one browser that sends all its requests through it.
///
/// A request does not show which cookies a browser would send: `Sec-Fetch` fields name neither the page in the address
/// bar nor omitted credentials. So the gateway sets its own cookies in the browser, ``WitnessCookies``, and those that
/// come back are the browser's verdict. Until they are known, the strictest interpretation of the `Sec-Fetch` fields
/// decides.
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
    struct Verdict {
        let verdict: EngineVerdict
        /// The same for the cookies that the response sets.
        let storage: EngineVerdict
        /// Whether the request navigates the tab.
        let isTopLevelNavigation: Bool
        /// The strictest SameSite attribute that a cookie of the site has if the browser sends it with the request;
        /// `nil` if the request does not show it.
        var exposure: SameSite?
        /// What the request shows about the browser's cookies.
        let observation: Observation
        /// The browser's other cookies, in their order.
        let cookies: [Octets]
        /// The Set-Cookie lines that the response gets for the browser.
        let lines: [Octets]
    }

    /// How many sites, partitions and cookies are remembered. Beyond that, everything is forgotten and learned again.
    static let limit = 20_000

    let witnesses: WitnessCookies
    private let suffixes: PublicSuffixList
    /// Whether the gateway reads the requests to a host.
    private let sees: @Sendable (WebHost) -> Bool
    /// Whether the gateway reads the requests to all hosts of a site.
    private let seesSite: @Sendable (WebHost) -> Bool
    private let random: @Sendable () -> UInt64
    let state = Mutex(State())

    /// Creates the knowledge of an unknown browser.
    ///
    /// - Parameters:
    ///   - isOffered: Whether the browser reaches the sites at local addresses, without TLS.
    ///   - sees: Whether the gateway reads the https requests of a host.
    ///   - seesSite: Whether it reads those of a registrable domain and of all hosts below it.
    init(
        _ suffixes: PublicSuffixList, key: SymmetricKey = SymmetricKey(size: .bits256),
        random: @escaping @Sendable () -> UInt64 = { .random(in: 1 ... .max) }, isOffered: Bool = false,
        sees: @escaping @Sendable (WebHost) -> Bool, seesSite: @escaping @Sendable (WebHost) -> Bool
    ) {
        witnesses = WitnessCookies(key: key, hasPrefixes: !isOffered)
        self.suffixes = suffixes
        self.random = random
        self.sees = sees
        self.seesSite = seesSite
    }

    /// Whether a Set-Cookie line of a server would replace a witness.
    func isWitness(_ line: Octets) -> Bool { witnesses.isWitness(line) }

    /// Judges a request.
    func judge(_ request: Request, now: Timestamp) -> Verdict {
        let scope = scope(of: request.url)
        let period = now.seconds / WitnessCookies.period
        let returned = witnesses.read(request.cookies, in: scope, period: period)
        let evidence = FetchEvidence(request, suffixes)
        guard !evidence.isPreflight else {
            return Verdict(
                verdict: .init([], source: .nothing), storage: .init([], source: .nothing), isTopLevelNavigation: false,
                observation: Observation(), cookies: returned.others, lines: [])
        }
        return state.withLock { state in
            if state.known.count > BrowserKnowledge.limit { state.known = [:] }
            state.notePage(request.url, evidence)
            let exposure = state.exposure(returned, scope, evidence)
            let reading = state.read(returned, scope, evidence, period: period)
            var verdict = EngineVerdict(reading.classes, source: reading.source)
            // A first-party context shares cookies with pages of the site itself.
            let isOwn = reading.classes.contains(.strict) || evidence.isDocument
            var observation = state.observation(of: returned, scope, evidence, now: now)
            let mark = WitnessCookies.Mark(
                browser: observation.browser ?? state.moment, moment: state.moment, period: period)
            (observation.site, observation.period) = (request.url.host.registrableDomain(suffixes), period)
            var storage = verdict
            // For the first page of a site over http, nothing distinguishes a tab's page from a frame. It gets no
            // cookies, but may set them.
            let isFirstPage = !scope.isEncrypted && evidence.isPageRequest && state.known[scope]?.isEmpty != false
            if isFirstPage { storage.classes = [.none, .lax, .default] }
            let isOfOrdinaryStore = state.isOfOrdinaryStore(returned, scope, evidence)
            var lines = isOfOrdinaryStore ? self.lines(for: returned, scope, evidence, isOwn: isOwn, mark) : []
            if !lines.isEmpty, state.known[scope] == nil { state.known[scope] = [] }
            if scope.isEncrypted, !returned.isForged {
                if let mark = returned.marks[.partitioned] {
                    verdict.partition = state.partitions[PartitionID(domain: scope.domain, number: mark.context)]
                    storage.partition = verdict.partition
                } else if isOfOrdinaryStore, let page = isOwn ? request.url : evidence.referrer {
                    let key = PartitionKey(topLevelSite: site(of: page), hasCrossSiteAncestor: !isOwn)
                    if let number = state.number(for: key, of: scope.domain, or: random(), now: now) {
                        let mark = WitnessCookies.Mark(context: number, period: period)
                        if let line = witnesses.line(.partitioned, mark, in: scope) { lines.append(line) }
                        // If nothing has come back at all, the request may be without credentials.
                        if !reading.classes.isEmpty { storage.partition = key }
                        // A page in a tab gets the partitioned cookies of an earlier profile; a frame gets those of the
                        // browser.
                        if isOwn { verdict.partition = storage.partition }
                    }
                }
            }
            return Verdict(
                verdict: verdict, storage: storage,
                isTopLevelNavigation: evidence.isDocument || isFirstPage
                    || !scope.isEncrypted && reading.classes.contains(.lax) && !reading.classes.contains(.strict),
                exposure: exposure, observation: observation, cookies: returned.others, lines: lines)
        }
    }

    /// The scope of a host's witnesses: its whole site only if the gateway reads all requests to it. Otherwise
    /// witnesses would travel through tunnels, and a server there could set them again with other attributes.
    func scope(of url: RequestURL) -> WitnessCookies.Scope {
        let isEncrypted = url.scheme.isCryptographic
        let site = url.host.registrableDomain(suffixes)
        let isWhole = WebHost(String(decoding: site, as: UTF8.self)).map(seesSite) == true
        guard isWhole, url.host.kind == .domain, !url.host.isPublicSuffix(suffixes) else {
            return WitnessCookies.Scope(domain: url.host.octets, isHostOnly: true, isEncrypted: isEncrypted)
        }
        return WitnessCookies.Scope(domain: site, isHostOnly: false, isEncrypted: isEncrypted)
    }

    private func site(of url: RequestURL) -> String { SchemefulSite(url, suffixes).description }

    /// The witnesses that are missing, or old.
    private func lines(
        for returned: WitnessCookies.ReturnedWitnesses, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence,
        isOwn: Bool,
        _ new: WitnessCookies.Mark
    ) -> [Octets] {
        // Over http, witnesses need a site whose https requests are read. Otherwise they would travel through tunnels.
        guard
            scope.isEncrypted || !scope.isHostOnly
                || WebHost(String(decoding: scope.domain, as: UTF8.self)).map(sees) == true
        else { return [] }
        return WitnessCookies.Kind.allCases.compactMap { kind in
            let mark = returned.marks[kind]
            if let mark, mark.period == new.period { return nil }
            switch kind {
            case .partitioned where mark == nil: return nil
            // A browser rejects these in the response to a request of another site.
            case .lax, .strict, .default: if mark == nil, !isOwn, !returned.marks.isEmpty { return nil }
            case .none, .partitioned: break
            // A canary that is set again proves nothing about earlier cookies.
            case .canary: if returned.canary != nil || !isOwn && !returned.marks.isEmpty { return nil }
            }
            var line = new
            if kind == .none || kind == .partitioned { line.context = mark?.context ?? (isOwn ? 0 : random()) }
            if kind == .canary { line.context = random() }
            return witnesses.line(kind, line, in: scope)
        }
    }
}
