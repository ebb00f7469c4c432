package import CookieModel
package import RequestDecoration
package import SessionStore

/// The answer to "why am I logged out?": what becomes of every cookie in question for one request, and where else the
/// session may be. Nothing is changed by finding it out.
package struct Explanation {
    /// A cookie that stays behind.
    package struct Unsent {
        package let cookie: Cookie
        package let reasons: ReasonSet<ExclusionReason>
    }

    /// What another jar of the database has for the request.
    package struct OtherJar: Codable {
        package let name: String
        /// How many cookies of the site it has.
        package let cookies: Int
        /// How many of them would go.
        package let sent: Int
    }

    /// A URL that would get more of the cookies.
    package struct Alternative: Codable {
        package let url: String
        package let sent: Int
    }

    package let context: RequestContext
    package let now: Timestamp
    /// The jar's name.
    package let jar: String
    /// The registrable domain in question, or the host where it has none.
    package let site: String
    /// The cookies that go, in their order.
    package private(set) var sent: [Cookie] = []
    /// The cookies that stay.
    package private(set) var unsent: [Unsent] = []
    /// What becomes of the jar's header fields.
    package private(set) var fields = FieldSelection()
    /// Other jars that would send what this one does not.
    package private(set) var otherJars: [OtherJar] = []
    /// Sites of the jar with a similar name, where it has nothing of this one.
    package private(set) var similarSites: [String] = []

    /// The URL that would get more, where there is one: another host of the site, or https.
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

    /// Adds what the jar has.
    package mutating func add(_ jar: CookieJar) throws {
        let retrieval = try jar.retrieve(for: context, now: now)
        sent = retrieval.included
        unsent = retrieval.excluded.map { Unsent(cookie: $0.cookie, reasons: $0.reasons) }
        // Scripts see cookies, and no header fields.
        if context.interface == .http {
            fields = FieldSelection(try jar.headerFieldsOfJustOpened(), for: context.url)
        }
        let stored = try jar.cookies()
        let all = stored.readable + stored.unreadable
        addStrays(among: all, policy: jar.policy)
        better = alternative(policy: jar.policy)
        if count == 0 {
            similarSites = SimilarSites(of: context.url.host, jar.policy.publicSuffixes, among: all).names
        }
    }

    /// Adds the cookies that retrieval does not find because another public suffix list put them with another site.
    private mutating func addStrays(among all: [Cookie], policy: CookiePolicy) {
        let host = context.url.host
        let site = host.registrableDomain(policy.publicSuffixes)
        let found = Set(sent.map(\.id) + unsent.map(\.cookie.id))
        let strays = all.filter { cookie in
            (CookiePolicy.domainMatches(host, cookie.domain.octets)
                || cookie.domain.registrableDomain(policy.publicSuffixes) == site)
                && !found.contains(cookie.id)
        }
        let retrieval = policy.retrieval(from: strays, for: context, now: now) { _ in [] }
        unsent += retrieval.included.map { Unsent(cookie: $0, reasons: [.suffixListChanged]) }
        unsent += retrieval.excluded.map { exclusion in
            var reasons = exclusion.reasons
            reasons.insert(.suffixListChanged)
            return Unsent(cookie: exclusion.cookie, reasons: reasons)
        }
    }

    /// The URL of one of the cookies' hosts, by https, that would get most of them, if that is more than now.
    private func alternative(policy: CookiePolicy) -> Alternative? {
        let url = context.url
        // What storage cannot give goes nowhere.
        let lost: [ExclusionReason] = [.suffixListChanged, .unreadable]
        let cookies = sent + unsent.filter { entry in !lost.contains { entry.reasons.contains($0) } }.map(\.cookie)
        // Another port than the scheme's own says nothing of where https is.
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

    /// Adds the other jars that have something to send which is not sent now.
    ///
    /// - Parameters:
    ///   - names: the names of the only jars that count; `nil` for all jars.
    ///   - policy: the rules, but for profile and limits, which are each jar's own.
    package mutating func addOtherJars(
        of database: SessionDatabase, named jarNames: Set<String>? = nil, policy: CookiePolicy
    ) throws {
        let names = Set(sent.map(\.name))
        for (name, retrieval) in try database.retrievals(
            for: context, besides: jar, named: jarNames, policy: policy, now: now
        ).sorted(by: { $0.jar < $1.jar }) {
            let cookies = retrieval.included.count + retrieval.excluded.count
            guard cookies > 0, count == 0 || retrieval.included.contains(where: { !names.contains($0.name) }) else {
                continue
            }
            otherJars.append(OtherJar(name: name, cookies: cookies, sent: retrieval.included.count))
        }
    }
}
