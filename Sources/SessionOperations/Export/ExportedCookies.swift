package import Captures
package import CookieModel
package import SessionStore

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
        /// What a page of a host can have set, at whatever path it is.
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

    /// The next domain's, as they are when their turn comes; `nil` where there are no more.
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
