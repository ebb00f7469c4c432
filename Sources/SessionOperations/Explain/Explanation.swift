package import CookieModel
import PublicSuffix
package import RequestDecoration
package import SessionStore

/// The answer to "why am I logged out?": whether each cookie in question is sent with one request, and where else the
/// session may be. Computing it changes nothing.
package struct Explanation {
    /// A cookie that is not sent.
    package struct Unsent {
        package let cookie: Cookie
        package let reasons: ReasonSet<ExclusionReason>
    }

    /// A cookie of the site that the jar no longer holds, or whose value was replaced, as the journal tells it.
    package struct Change {
        package let change: CookieChange
        /// Where the new value came from; only for a cookie that was replaced.
        package let origin: CookieOrigin?
    }

    package typealias OtherJar = ExplanationReport.OtherJar
    package typealias LostLogin = ExplanationReport.LostLogin
    package typealias Alternative = ExplanationReport.Alternative

    /// How many names of another jar's cookies are listed.
    private static let nameLimit = 10

    /// How many changes are worth telling.
    private static let changeLimit = 100

    package let context: RequestContext
    package let now: Timestamp
    /// The jar's name.
    package let jar: String
    /// The registrable domain in question, or the host if it has none.
    package let site: String
    /// The cookies that go, in their order.
    package private(set) var sent: [Cookie] = []
    /// The cookies that stay.
    package private(set) var unsent: [Unsent] = []
    /// The cookies of the site that were deleted, expired, evicted, removed or replaced, each with its newest change, the
    /// latest first: at most ``changeLimit``.
    package private(set) var changes: [Change] = []
    /// The cookies that hosts of the site tried to set and the rules rejected, the latest first, without those that the jar
    /// has stored since.
    package private(set) var rejections: [CookieRejection] = []
    /// The origins of the cookies of the site that only requests told.
    package private(set) var requestOrigins: [Cookie.ID: CookieOrigin] = [:]
    /// The selection of the jar's header fields.
    package private(set) var fields = FieldSelection()
    /// The logins that login rules for the request need, and that the server has ended or that were removed.
    package private(set) var lostLogins: [LostLogin] = []
    /// The other jars that would send cookies that this one does not.
    package private(set) var otherJars: [OtherJar] = []
    /// Sites of the jar with a similar name, if it has nothing of this one.
    package private(set) var similarSites: [String] = []

    /// A URL that would get more cookies, on another host of the site or over https; `nil` if no URL would.
    package private(set) var better: Alternative?

    /// Nothing is stored at all.
    package init(_ context: RequestContext, jar: String, policy: CookiePolicy, now: Timestamp) {
        self.context = context
        self.now = now
        self.jar = jar
        site = String(decoding: context.url.host.registrableDomain(policy.publicSuffixes), as: UTF8.self)
    }

    /// How many cookies are in question.
    package var count: Int { sent.count + unsent.count }

    /// Adds the jar's cookies, header fields and login rules.
    package mutating func add(_ jar: CookieJar) throws {
        // Scripts see cookies, and no header fields.
        let decoration = try jar.decoration(for: context, withFields: context.interface == .http, now: now)
        sent = decoration.retrieval.included
        unsent = decoration.retrieval.excluded.map { Unsent(cookie: $0.cookie, reasons: $0.reasons) }
        fields = decoration.fields
        let hosts = try jar.hosts()
        try addStrays(of: jar, hosts)
        try addChanges(of: jar)
        try addLostLogins(of: jar)
        better = alternative(policy: jar.policy)
        if count == 0 {
            similarSites =
                SimilarSites(of: context.url.host, jar.policy.publicSuffixes, among: hosts.map(\.host)).names
        }
    }

    /// Adds the cookies that retrieval does not look at, because storage keeps them under another site than the
    /// request's: a public suffix above its host, or the site that another public suffix list gave them.
    private mutating func addStrays(of jar: CookieJar, _ hosts: [(site: Octets, host: WebHost)]) throws {
        let list = jar.policy.publicSuffixes
        let host = context.url.host
        let site = host.registrableDomain(list)
        var kept: [Octets: Set<WebHost>] = [:]
        for (stored, domain) in hosts where stored != site {
            guard CookiePolicy.domainMatches(host, domain.octets) || domain.registrableDomain(list) == site else {
                continue
            }
            kept[stored, default: []].insert(domain)
        }
        let found = Set(sent.map(\.id) + unsent.map(\.cookie.id))
        for (stored, domains) in kept.sorted(by: { $0.key < $1.key }) {
            let cookies = try jar.cookies(site: stored)
            let strays = (cookies.readable + cookies.unreadable).filter {
                domains.contains($0.domain) && !found.contains($0.id)
            }
            let retrieval = jar.policy.retrieval(from: strays, for: context, now: now) { _ in [] }
            unsent += retrieval.included.map { stray($0, [], keptUnder: stored, list) }
            unsent += retrieval.excluded.map { stray($0.cookie, $0.reasons, keptUnder: stored, list) }
        }
    }

    /// A cookie that storage keeps under another site than the request's, with all reasons.
    private func stray(
        _ cookie: Cookie, _ found: ReasonSet<ExclusionReason>, keptUnder stored: Octets, _ list: PublicSuffixList
    ) -> Unsent {
        var reasons = found
        let isSuffix = cookie.domain.isPublicSuffix(list)
        if isSuffix, reasons.contains(.hostOnlyMismatch) {
            reasons.remove(.hostOnlyMismatch)
            reasons.insert(.domainPublicSuffix)
        }
        // With the list in force, storage would have used another site, or refused the domain.
        if stored != cookie.domain.registrableDomain(list) || isSuffix && !cookie.isHostOnly {
            reasons.insert(.suffixListChanged)
        }
        return Unsent(cookie: cookie, reasons: reasons)
    }

    /// Adds the changes to the site's cookies in the journal.
    private mutating func addChanges(of jar: CookieJar) throws {
        let site = context.url.host.registrableDomain(jar.policy.publicSuffixes)
        let latest = try jar.latestChanges(site: site)
        let changes = latest.filter { $0.cause != .stored && !$0.isOfUnseenCookie }.prefix(Explanation.changeLimit)
        let origins = changes.isEmpty && count == 0 ? [:] : try jar.origins(site: site)
        requestOrigins = origins.filter { $0.value.isRequest }
        self.changes = changes.map { Change(change: $0, origin: $0.cause == .replaced ? origins[$0.cookie] : nil) }
        let received = origins.compactMap { id, origin in origin.received.map { (id: id, time: $0) } }
        let lost = changes.filter { $0.cause != .replaced }.map { (id: $0.cookie, time: $0.time) }
        rejections = try jar.rejections(site: site).filter { rejection in
            !received.contains { $0.time >= rejection.time && rejection.concerns($0.id) }
                && !lost.contains { $0.time > rejection.time && rejection.concerns($0.id) }
        }
    }

    /// Adds the logins of the rules for the request that were removed, or that the server has ended.
    private mutating func addLostLogins(of jar: CookieJar) throws {
        let rules = StoredLoginRules(try jar.loginRuleDefinitions()).rules
        for (name, rule) in rules where rule.urlScope?.contains(context.url) == true {
            let stored = try jar.tokens.readable(rule.profile)
            if let stored, stored.refusal == nil { continue }
            lostLogins.append(LostLogin(rule: name, login: rule.profile, isStored: stored != nil))
        }
    }

    /// The URL of one of the cookies' hosts, by https, that would get most of them, if that is more than now.
    private func alternative(policy: CookiePolicy) -> Alternative? {
        let url = context.url
        // Cookies excluded for these reasons are not sent to any URL.
        let lost: [ExclusionReason] = [.suffixListChanged, .unreadable]
        let cookies = sent + unsent.filter { entry in !lost.contains { entry.reasons.contains($0) } }.map(\.cookie)
        // If the URL names a port other than the scheme's, the port of https is unknown.
        let hasOwnPort = url.port != url.scheme.defaultPort
        let scheme = hasOwnPort ? url.scheme.name : url.scheme == .http ? "https" : url.scheme.name
        let hosts = Set([url.host] + cookies.map(\.domain)).sorted { $0.octets < $1.octets }
        var best: Alternative?
        for host in hosts {
            let text = "\(scheme)://\(host)\(hasOwnPort ? ":\(url.port)" : "")\(url.path)"
            guard let other = try? RequestURL(text) else { continue }
            var context = context
            context.url = other
            let count = policy.retrieval(from: cookies, for: context, now: now) { _ in [] }.included.count
            if count > best?.sent ?? sent.count { best = Alternative(url: other.description, sent: count) }
        }
        return best
    }

    /// Adds the other jars that would send a cookie which this one does not send.
    ///
    /// - Parameters:
    ///   - jarNames: the names of the only jars that count; `nil` for all jars.
    ///   - policy: the rules, but for profile and limits, which are each jar's own.
    package mutating func addOtherJars(
        of database: SessionDatabase, named jarNames: Set<String>? = nil, policy: CookiePolicy
    ) throws {
        let names = Set(sent.map(\.name))
        for (name, retrieval) in try database.retrievals(
            for: context, besides: jar, named: jarNames, policy: policy, now: now
        ).sorted(by: { $0.jar < $1.jar }) {
            let lacking = retrieval.included.map(\.name).filter { !names.contains($0) }
            guard !lacking.isEmpty else { continue }
            otherJars.append(
                OtherJar(
                    name: name, cookies: retrieval.included.count + retrieval.excluded.count,
                    sent: retrieval.included.count,
                    lacking: lacking.prefix(Explanation.nameLimit).map { shownName($0) }))
        }
    }
}

/// When a cookie ends, for a person: from now on, and by the calendar.
package struct Lifetime: CustomStringConvertible {
    package let description: String

    package init(of cookie: Cookie, at now: Timestamp) {
        self.init(until: cookie.expiry, at: now)
    }

    /// The lifetime of a cookie that a report says the end of.
    package init(of cookie: CookieReport, at now: Timestamp) {
        guard let text = cookie.expires, let expiry = Timestamp(rfc3339: text.utf8) else {
            self.init(until: nil, at: now)
            return
        }
        // How RFC 3339 writes the end of the range.
        self.init(until: text == Timestamp.distantPast.rfc3339 ? .distantPast : expiry, at: now)
    }

    private init(until expiry: Timestamp?, at now: Timestamp) {
        guard let expiry else {
            description = "with the session"
            return
        }
        // `Max-Age=0` gives this expiry.
        guard expiry > .distantPast else {
            description = "expires at once"
            return
        }
        let distance = Lifetime.distance(to: expiry, at: now)
        description = "\(expiry < now ? "ended " : "")\(distance), \(Timestamp(seconds: expiry.seconds).rfc3339)"
    }

    /// How long ago a moment is, or how far ahead, for a person.
    package static func distance(to moment: Timestamp, at now: Timestamp) -> String {
        let (distance, overflow) = moment.seconds.subtractingReportingOverflow(now.seconds)
        let span = span(overflow ? .max : distance.magnitude)
        return moment < now ? "\(span) ago" : "in \(span)"
    }

    /// A moment in the past, for a person: how long ago, and by the calendar.
    package static func past(_ moment: Timestamp, at now: Timestamp) -> String {
        let text = Timestamp(seconds: moment.seconds).rfc3339
        // A clock that was set back says nothing of how long ago it was.
        return moment <= now ? "\(distance(to: moment, at: now)), \(text)" : text
    }

    /// The largest unit of which there are two or more.
    private static func span(_ seconds: UInt64) -> String {
        for (unit, length) in [("days", 86_400), ("hours", 3_600), ("minutes", 60)] as [(String, UInt64)]
        where seconds >= 2 * length {
            return "\(seconds / length) \(unit)"
        }
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}
