package import CookieModel

/// Cookies of captures, without a database. Responses go through the cookie rules; a store's dump stays what it is.
package struct CookieCollection {
    private var store: CookieStore
    private var records: [CookieRecord?] = []
    private var places: [Cookie.ID: Int] = [:]
    /// The items of web storage, by origin in the order in which they came.
    package private(set) var storage: [(origin: String, items: [WebStorageItem])] = []
    private var storagePlaces: [String: (place: Int, keys: [Octets: Int])] = [:]

    package init(policy: CookiePolicy) {
        var policy = policy
        // What a file holds is what is meant, however much it is.
        policy.limits = .unlimited
        store = CookieStore(policy: policy)
    }

    /// Receives the Set-Cookie lines of a response that came at `time`.
    package mutating func receive(_ response: ReceivedResponse, at time: Timestamp) -> [StorageDecision] {
        let decisions = store.receive(response, now: time)
        for decision in decisions where decision.outcome != .rejected {
            if let id = decision.cookie?.id { forget(id) }
        }
        return decisions
    }

    /// Takes in a cookie out of a store, in the place of one with the same identity.
    ///
    /// - Returns: whether there was one.
    package mutating func receive(_ record: CookieRecord) -> Bool {
        let id = Cookie.ID(
            name: record.name, domain: WebHost(record.domain) ?? WebHost(stored: Octets(record.domain)),
            isHostOnly: record.isHostOnly, path: record.path, partitionKey: record.partitionKey)
        let isReplaced = places[id] != nil
        forget(id)
        places[id] = records.endIndex
        records.append(record)
        return isReplaced
    }

    /// Takes in a cookie that a request sent. A response that sets it later takes its place.
    package mutating func receive(requestCookie record: CookieRecord, now: Timestamp) -> StorageDecision {
        store.receive(record, now: now)
    }

    /// What a request's cookies meet.
    package var present: RequestCookies.Present {
        var present = RequestCookies.Present(store.cookies)
        for id in places.keys { present.insert(id) }
        return present
    }

    /// Takes in an item of web storage, in the place of the one with the same key.
    package mutating func receive(_ item: WebStorageItem) {
        guard let place = storagePlaces[item.origin]?.place else {
            storagePlaces[item.origin] = (storage.count, [item.key: 0])
            storage.append((item.origin, [item]))
            return
        }
        if let index = storagePlaces[item.origin]?.keys[item.key] {
            storage[place].items[index] = item
        } else {
            storagePlaces[item.origin]?.keys[item.key] = storage[place].items.count
            storage[place].items.append(item)
        }
    }

    private mutating func forget(_ id: Cookie.ID) {
        if let place = places.removeValue(forKey: id) { records[place] = nil }
    }

    /// Whether there are none.
    package var isEmpty: Bool { places.isEmpty && store.count == 0 && storage.isEmpty }

    /// Goes through all of them: those of stores in their order, then those of responses in the order of creation.
    package func forEach(_ body: (CookieRecord) throws -> Void) rethrows {
        for case let record? in records { try body(record) }
        let received = store.cookies.filter { places[$0.id] == nil }
        for cookie in received.sorted(by: { ($0.creation, $0.sequence) < ($1.creation, $1.sequence) }) {
            try body(CookieRecord(cookie))
        }
    }

    /// The cookies of a request, in order. Now the rules apply to the cookies of stores too.
    ///
    /// - Parameter refused: is given what the rules refuse, with all reasons.
    package func cookies(
        for request: RequestContext, now: Timestamp, refused: (CookieRecord, StorageDecision) -> Void
    ) -> [CookieRecord] {
        var store = store
        for record in records.compactMap(\.self) {
            let decision = store.receive(record, now: now)
            if decision.outcome == .rejected { refused(record, decision) }
        }
        return store.retrieve(for: request, now: now).included.map { CookieRecord($0) }
    }
}
