package import CookieModel
package import SessionStore

/// The jar that cookies of captures and answers go into. A jar that does not exist is created with the first cookie that
/// it would store, so that nothing but a stored cookie makes one.
package final class ImportTarget {
    /// The name of the jar.
    package let name: String
    /// The jar, once it exists.
    package private(set) var jar: CookieJar?
    /// The rules that apply.
    package let policy: CookiePolicy
    /// Creates the jar; `nil` if nothing may be stored.
    private let creation: (() throws(SessionStoreError) -> CookieJar)?
    /// What the jar would hold, while nothing is stored, and which cookies would have ended.
    private var trial: CookieStore?
    private var trialEndings: [Octets: [CookieEnding]] = [:]
    /// When the responses came that gave the jar's cookies their values.
    private var trialTimes: [Cookie.ID: Timestamp] = [:]

    /// Whether nothing may be stored.
    package var isDryRun: Bool { creation == nil }

    /// A jar that exists.
    package init(_ jar: CookieJar) {
        (name, self.jar, policy, creation) = (jar.name, jar, jar.policy, { () throws(SessionStoreError) in jar })
    }

    /// A jar that may not exist yet.
    ///
    /// - Parameters:
    ///   - jar: the jar; `nil` if it does not exist.
    ///   - policy: the rules of a jar that is created.
    ///   - creation: creates the jar; `nil` for a dry run, which stores nothing.
    package init(
        named name: String, existing jar: CookieJar?, policy: CookiePolicy,
        creation: (() throws(SessionStoreError) -> CookieJar)?
    ) {
        (self.name, self.jar, self.policy, self.creation) = (name, jar, jar?.policy ?? policy, creation)
    }

    /// Receives one response, in one transaction.
    package func receive(
        _ response: ReceivedResponse, now: Timestamp
    ) throws(SessionStoreError) -> [StorageDecision] {
        let decisions = try inMemory(now: now) { $0.receive(response, now: now) }
        if let decisions { return decisions }
        return try writable().receive(response, now: now)
    }

    /// Runs `body` in memory, if what it stores must not or need not get into the jar.
    ///
    /// - Parameter body: returns its decisions.
    /// - Returns: the decisions; `nil` if the jar has to be asked.
    package func inMemory(
        now: Timestamp, _ body: (inout CookieStore) -> [StorageDecision]
    ) throws(SessionStoreError) -> [StorageDecision]? {
        if jar != nil, creation != nil { return nil }
        var store: CookieStore
        if let trial { store = trial } else { store = try copy(now: now) }
        let decisions = body(&store)
        if creation == nil {
            trial = store
            return decisions
        }
        return decisions.contains { $0.outcome == .stored } ? nil : decisions
    }

    /// Receives a response out of a capture, while nothing is stored.
    package func receive(
        _ received: ReceivedCapture, into store: inout CookieStore, now: Timestamp
    ) -> [StorageDecision] {
        let decisions = decisions(on: received, in: &store, now: now)
        guard isDryRun else { return decisions }
        for decision in decisions where decision.outcome == .stored || decision.outcome == .replaced {
            if let id = decision.cookie?.id { trialTimes[id] = received.sparing == nil ? received.time : nil }
        }
        return decisions
    }

    private func decisions(
        on received: ReceivedCapture, in store: inout CookieStore, now: Timestamp
    ) -> [StorageDecision] {
        let response = received.response
        guard let limit = received.sparing, response.setsCookies, !trialTimes.isEmpty else {
            return store.receive(response, at: received.time, now: now)
        }
        let site = response.context.url.host.site(policy.publicSuffixes)
        return response.setCookie.map { line in
            guard case .cookie(let setCookie) = SetCookie.parse(line, profile: policy.profile) else {
                return store.receive(line, in: response.context, now: now)
            }
            let id = policy.candidate(for: setCookie, in: response.context, site: site, now: received.time).cookie.id
            if let time = trialTimes[id], time > limit {
                return StorageDecision(rejecting: setCookie.name, [.timeUnknown])
            }
            return store.receive(setCookie, in: response.context, site: site, at: received.time, now: now)
        }
    }

    /// Notes the cookies that a response would delete, while nothing is stored.
    package func noteEndings(_ decisions: [StorageDecision], at time: Timestamp) {
        guard isDryRun else { return }
        for decision in decisions {
            var endings = decision.superseded.map { CookieEnding($0, isExpiry: false, time: time) }
            if decision.outcome == .deleted, let cookie = decision.cookie {
                endings.append(CookieEnding(cookie, answered: time))
            }
            for ending in endings {
                trialEndings[ending.cookie.domain.registrableDomain(policy.publicSuffixes), default: []].append(ending)
            }
        }
    }

    /// The cookies of a site that ended, as far as the jar or the trial tells.
    package func endings(of site: Octets, now: Timestamp) throws(SessionStoreError) -> [CookieEnding] {
        (try jar?.endings(of: site, now: now) ?? []) + trialEndings[site, default: []]
    }

    /// The jar, created if it does not exist.
    package func writable() throws(SessionStoreError) -> CookieJar {
        if let jar { return jar }
        guard let creation else { throw SessionStoreError(noJarNamed: name) }
        let jar = try creation()
        self.jar = jar
        return jar
    }

    private func copy(now: Timestamp) throws(SessionStoreError) -> CookieStore {
        guard let jar else { return CookieStore(policy: policy) }
        let (readable, unreadable) = try jar.cookies()
        let origins = try jar.origins()
        trialTimes = origins.compactMapValues(\.received)
        let cookies = (readable + unreadable).map { cookie in
            guard let origin = origins[cookie.id], origin.isRequest else { return cookie }
            var cookie = cookie
            cookie.request = CookieRequest(time: origin.received, url: origin.url)
            return cookie
        }
        return CookieStore(policy: policy, cookies: cookies, now: now)
    }
}
