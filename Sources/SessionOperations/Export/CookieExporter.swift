package import Captures
package import CookieModel
package import SessionStore

/// Writes cookies in one format, and accounts for each.
package struct CookieExporter {
    private var writer: CookieWriter
    private let now: Timestamp
    /// The outcome of the cookies so far.
    package private(set) var report: ExportReport

    /// Writes the cookies that live at `now`.
    ///
    /// - Parameters:
    ///   - output: the file, as the report names it.
    ///   - host: the host that the cookies are for, if the format is for one.
    package init(_ format: ExportFormat, to output: String? = nil, host: WebHost?, now: Timestamp) {
        self.now = now
        writer = CookieWriter(format: format, host: host, now: now)
        report = ExportReport(format: format, output: output)
    }

    /// Whether there is nothing to write: a request without cookies has no header.
    package var isNothing: Bool { report.isNothing }

    /// Writes a cookie unless its lifetime is over.
    package mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        if let expiry = record.expiry, expiry < now {
            report.expired += 1
            return
        }
        report.count(writer.write(record, to: &bytes), of: record)
    }

    /// The format.
    package var format: ExportFormat { writer.format }

    /// Writes the web storage of an origin, after all cookies.
    package mutating func write(_ part: ExportedCookies.StoragePart, to bytes: inout [UInt8]) {
        for item in part.items { writer.write(item, to: &bytes) }
        report.count(part)
    }

    /// Accounts for a cookie whose value cannot be read back.
    package mutating func leaveOut(unreadable cookie: Cookie) {
        report.count(unreadable: cookie)
    }

    /// Ends the file, unless there is nothing to write.
    package mutating func finish(_ bytes: inout [UInt8]) {
        if !isNothing { writer.finish(&bytes) }
    }
}

/// Cookies of captures, without a database. Responses go through the cookie rules; cookies of a store are kept
/// unchanged, except for the protection that their twins and the cookies of responses state.
package struct CookieCollection {
    private var store: CookieStore
    private var twins: CookieTwins
    private var records: [CookieRecord?] = []
    private var places: [Cookie.ID: Int] = [:]
    /// The items of web storage, by origin in the order in which they came.
    package private(set) var storage: [(origin: String, items: [WebStorageItem])] = []
    private var storagePlaces: [String: (place: Int, keys: [Octets: Int])] = [:]

    package init(policy: CookiePolicy) {
        var policy = policy
        // All cookies of a file are wanted, however many there are.
        policy.limits = .unlimited
        store = CookieStore(policy: policy)
        twins = CookieTwins(publicSuffixes: policy.publicSuffixes)
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
        twins.note(CollectionOfOne(record)) { store[$0]?.cookies ?? [] }
        forget(id)
        places[id] = records.endIndex
        records.append(record)
        return isReplaced
    }

    /// Takes in a cookie that a request sent. A response that sets it later takes its place.
    package mutating func receive(requestCookie record: CookieRecord, now: Timestamp) -> StorageDecision {
        store.receive(record, now: now)
    }

    /// The cookies that a request's cookies are compared with.
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

    /// Whether the collection is empty.
    package var isEmpty: Bool { places.isEmpty && store.count == 0 && storage.isEmpty }

    /// Goes through all of them: those of stores in their order, then those of responses in the order of creation.
    package func forEach(_ body: (CookieRecord) throws -> Void) rethrows {
        for case let record? in records {
            var record = twins.completed(record)
            _ = record.complete(from: nil)
            try body(record)
        }
        let received = store.cookies.filter { places[$0.id] == nil }
        for cookie in received.sorted(by: { ($0.creation, $0.sequence) < ($1.creation, $1.sequence) }) {
            try body(CookieRecord(cookie))
        }
    }

    /// Returns the cookies of a request, in order. At this point the rules apply to the cookies of stores, too.
    ///
    /// - Parameter refused: receives each cookie that the rules reject, with all reasons.
    package func cookies(
        for request: RequestContext, now: Timestamp, refused: (CookieRecord, StorageDecision) -> Void
    ) -> [CookieRecord] {
        var store = store
        for record in records.compactMap(\.self) {
            let decision = store.receive(twins.completed(record), now: now)
            if decision.outcome == .rejected { refused(record, decision) }
        }
        return store.retrieve(for: request, now: now).included.map { CookieRecord($0) }
    }
}

/// The cookies that an export is for, one registrable domain after the other, so that no more than one domain's are in
/// memory.
package struct ExportedCookies: Sendable {
    /// Cookies of one domain.
    package struct Part {
        /// Those with their values.
        let readable: [Cookie]
        /// Those whose value cannot be read.
        let unreadable: [Cookie]

        /// Goes through those that a selection admits.
        package func forEach(
            admittedBy selection: CookieSelection, write: (CookieRecord) throws -> Void, leaveOut: (Cookie) -> Void
        ) rethrows {
            for record in readable.lazy.map({ CookieRecord($0) }) where selection.admits(record) { try write(record) }
            for cookie in unreadable where selection.admits(CookieRecord(cookie)) { leaveOut(cookie) }
        }
    }

    /// Where they come from.
    private enum Source {
        /// Those that a request carries.
        case request(RequestContext)
        /// The cookies that a page of a host can have set, at whatever path it is.
        case host(WebHost)
        /// All of the domains that are left.
        case sites(ArraySlice<Octets>)
        case none
    }

    /// The web storage of an origin.
    package struct StoragePart {
        /// The items with their values.
        let items: [WebStorageItem]
        /// How many stored values cannot be read.
        let unreadable: Int
        /// How many items were not read, since the format holds none.
        let leftOut: Int

        package init(items: [WebStorageItem] = [], unreadable: Int = 0, leftOut: Int = 0) {
            (self.items, self.unreadable, self.leftOut) = (items, unreadable, leftOut)
        }
    }

    private let jar: CookieJar
    private let now: Timestamp
    private var source: Source
    /// The origins whose web storage is still to come, with the number of their items.
    private var origins: ArraySlice<(origin: String, items: Int)>

    /// The cookies of a jar.
    ///
    /// - Parameters:
    ///   - request: the request that they are for; `nil` for all cookies of the jar.
    ///   - scope: whether the export is for the request itself or for its host.
    package init(
        of jar: CookieJar, for request: RequestContext?, _ scope: ExportFormat.Scope, now: Timestamp
    ) throws {
        self.jar = jar
        self.now = now
        if let request {
            source = scope == .oneHost ? .host(request.url.host) : .request(request)
        } else {
            source = .sites(try jar.sites()[...])
        }
        let origins = scope == .anySite ? try jar.webStorageOrigins() : []
        self.origins =
            origins.filter { request == nil || $0.origin == request?.url.origin }.map {
                ($0.origin, $0.items)
            }[...]
    }

    /// The next domain's, as they are when their turn comes; `nil` if there are no more.
    package mutating func next() throws -> Part? {
        switch source {
        case .none: return nil
        case .request(let request):
            source = .none
            let retrieval = try jar.retrieve(for: request, now: now)
            let unreadable = retrieval.excluded.filter { $0.reasons.contains(.unreadable) }.map(\.cookie)
            return Part(readable: retrieval.included, unreadable: unreadable)
        case .host(let host):
            source = .none
            let (readable, unreadable) = try jar.cookies(ofSiteOf: host)
            func belongs(_ cookie: Cookie) -> Bool { CookieRecord(cookie).belongs(to: host) }
            return Part(readable: readable.filter(belongs), unreadable: unreadable.filter(belongs))
        case .sites(var sites):
            guard let site = sites.popFirst() else { return nil }
            source = .sites(sites)
            let (readable, unreadable) = try jar.cookies(site: site)
            return Part(readable: readable, unreadable: unreadable)
        }
    }

    /// The web storage of the next origin that a selection admits, after all cookies; `nil` after the last one.
    package mutating func nextStorage(
        admittedBy selection: CookieSelection, for format: ExportFormat
    ) throws -> StoragePart? {
        guard let next = origins.popFirst() else { return nil }
        guard selection.admits(storageOf: next.origin) else { return StoragePart() }
        guard format.holdsWebStorage else { return StoragePart(leftOut: next.items) }
        let (readable, unreadable) = try jar.webStorage(ofOrigin: next.origin)
        return StoragePart(items: readable, unreadable: unreadable.count)
    }
}
