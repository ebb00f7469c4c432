import CookieModel
import SessionStore

extension CookieJar {
    /// The header as a retrieval gives it, which also says what it leaves out.
    func cookieString(for context: RequestContext, now: Timestamp) throws -> Octets {
        try retrieve(for: context, now: now).cookieString
    }
}
