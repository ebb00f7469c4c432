package import Captures
package import CookieModel
package import SessionStore

extension CookieJar {
    /// Goes through the cookies that an export is for.
    ///
    /// - Parameters:
    ///   - request: the request that they are for; `nil` for all cookies of the jar.
    ///   - scope: whether the export is for the request itself or for its host.
    ///   - body: is given cookies of one registrable domain with their values, and those whose value cannot be read.
    package func forEachExported(
        for request: RequestContext?, _ scope: ExportFormat.Scope, now: Timestamp,
        _ body: (_ readable: [Cookie], _ unreadable: [Cookie]) throws -> Void
    ) throws {
        guard let request else { return try forEachSite(body) }
        guard scope == .oneHost else {
            let retrieval = try retrieve(for: request, now: now)
            let unreadable = retrieval.excluded.filter { $0.reasons.contains(.unreadable) }.map(\.cookie)
            return try body(retrieval.included, unreadable)
        }
        // What a page of the host can have set, at whatever path it is.
        let host = request.url.host
        let (readable, unreadable) = try cookies(ofSiteOf: host)
        func belongs(_ cookie: Cookie) -> Bool { CookieRecord(cookie).belongs(to: host) }
        try body(readable.filter(belongs), unreadable.filter(belongs))
    }
}
