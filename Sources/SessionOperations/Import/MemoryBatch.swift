import CookieModel
import SessionStore

extension CaptureStorer {
    /// Receives the contents of a capture: a batch of the jar, or a copy of the jar in memory.
    protocol Batch {
        /// Receives the Set-Cookie lines of a response.
        mutating func receive(_ received: ReceivedCapture) throws(SessionStoreError) -> [StorageDecision]

        /// Receives a cookie out of another store, or out of a request to `url`.
        mutating func receive(_ record: CookieRecord, sentTo url: RequestURL?) throws(SessionStoreError)
            -> StorageDecision

        /// Receives an item of `localStorage`; `false` if there is no room for it.
        mutating func receive(_ item: WebStorageItem) throws(SessionStoreError) -> Bool

        /// The cookies of a registrable domain, perhaps without their values.
        mutating func cookies(of site: Octets) throws(SessionStoreError) -> [Cookie]

        /// The cookies of a registrable domain with their values, without those whose value cannot be read.
        mutating func openedCookies(of site: Octets) throws(SessionStoreError) -> [Cookie]

        /// The cookies of a registrable domain that ended.
        mutating func endings(of site: Octets) throws(SessionStoreError) -> [CookieEnding]
    }
}

extension CookieBatch: CaptureStorer.Batch {
    mutating func receive(_ received: ReceivedCapture) throws(SessionStoreError) -> [StorageDecision] {
        try receive(
            received.response, at: received.time, answered: received.answered, sparing: received.sparing)
    }
}

/// A copy of a jar in memory. It decides as a batch of the jar does, and stores nothing.
struct MemoryBatch: CaptureStorer.Batch {
    private let jar: CookieJar?
    private let now: Timestamp
    private var store: CookieStore
    /// When the cookies' values were received, as far as known.
    private var times: [Cookie.ID: Timestamp]
    private var newEndings: [Octets: [CookieEnding]] = [:]
    private var storage = WebStorageTrial()
    /// Whether a cookie was stored that was not there.
    private(set) var hasStored = false

    /// A copy of a jar.
    ///
    /// - Parameter jar: The jar; `nil` if it does not exist.
    init(of jar: CookieJar?, _ policy: CookiePolicy, now: Timestamp) throws(SessionStoreError) {
        self.jar = jar
        self.now = now
        guard let jar else {
            store = CookieStore(policy: policy)
            times = [:]
            return
        }
        let (readable, unreadable) = try jar.cookies()
        let origins = try jar.origins()
        times = origins.compactMapValues(\.received)
        let cookies = (readable + unreadable).map { cookie in
            guard let origin = origins[cookie.id], origin.isRequest else { return cookie }
            var cookie = cookie
            cookie.request = CookieRequest(time: origin.received, url: origin.url)
            return cookie
        }
        store = CookieStore(policy: policy, cookies: cookies, now: now)
    }

    /// Receives a response that comes now.
    mutating func receive(_ response: ReceivedResponse) -> [StorageDecision] {
        let decisions = store.receive(response, now: now)
        for decision in decisions { note(decision, received: now, answered: now) }
        return decisions
    }

    mutating func receive(_ received: ReceivedCapture) -> [StorageDecision] {
        let decisions = decisions(on: received)
        for decision in decisions {
            note(
                decision, received: received.sparing == nil ? received.time : nil, answered: received.answered)
        }
        return decisions
    }

    private mutating func decisions(on received: ReceivedCapture) -> [StorageDecision] {
        let (response, time) = (received.response, received.time)
        guard let limit = received.sparing, response.setsCookies else {
            return store.receive(response, at: time, now: now)
        }
        let site = response.context.url.host.site(store.policy.publicSuffixes)
        return response.setCookie.map { line in
            guard case .cookie(let setCookie) = SetCookie.parse(line, profile: store.policy.profile) else {
                return store.receive(line, in: response.context, now: now)
            }
            let id = store.counterpart(of: setCookie, in: response.context, site: site, now: time)
            return StorageDecision(setCookie, replacing: id.flatMap { times[$0] }, after: limit)
                ?? store.receive(setCookie, in: response.context, site: site, at: time, now: now)
        }
    }

    mutating func receive(_ record: CookieRecord, sentTo url: RequestURL?) -> StorageDecision {
        let decision = store.receive(record, now: now)
        note(decision, received: record.request?.time ?? now, answered: now)
        return decision
    }

    mutating func receive(_ item: WebStorageItem) throws(SessionStoreError) -> Bool {
        try storage.receive(item, in: jar)
    }

    func cookies(of site: Octets) -> [Cookie] {
        store[site]?.cookies ?? []
    }

    func openedCookies(of site: Octets) -> [Cookie] {
        cookies(of: site)
    }

    func endings(of site: Octets) throws(SessionStoreError) -> [CookieEnding] {
        (try jar?.endings(of: site, now: now) ?? []) + newEndings[site, default: []]
    }

    /// Notes when a stored cookie was received, and which cookies have ended.
    private mutating func note(_ decision: StorageDecision, received: Timestamp?, answered: Timestamp) {
        guard let cookie = decision.cookie else { return }
        var endings = decision.superseded.map { CookieEnding($0, isExpiry: false, time: answered) }
        if decision.outcome == .deleted {
            endings.append(CookieEnding(cookie, answered: answered))
        } else {
            times[cookie.id] = received
            hasStored = hasStored || decision.outcome == .stored
        }
        for ending in endings {
            let site = ending.cookie.domain.registrableDomain(store.policy.publicSuffixes)
            newEndings[site, default: []].append(ending)
        }
    }
}
