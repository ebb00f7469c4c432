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

    private let jar: CookieJar
    private let now: Timestamp
    private var source: Source

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
}
