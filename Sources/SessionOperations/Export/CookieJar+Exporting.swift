package import Captures
package import CookieModel
package import SessionStore

extension CookieJar {
    /// Goes through the cookies that an export is for: ``ExportedCookies``.
    package func forEachExported(
        for request: RequestContext?, _ scope: ExportFormat.Scope, now: Timestamp,
        _ body: (_ readable: [Cookie], _ unreadable: [Cookie]) throws -> Void
    ) throws {
        var cookies = try ExportedCookies(of: self, for: request, scope, now: now)
        while let (readable, unreadable) = try cookies.next() { try body(readable, unreadable) }
    }
}
