import CookieModel
import OAuth2
import SessionStore

/// A page of the jars, and the tokens where the caller may see them.
struct OverviewView: InspectorView {
    struct Jar {
        let name: String
        let href: String
        let cookies: Int
        let sessionCookies: Int
        let savedSessions: Int
        let profile: String
        let nextExpiry: String

        init(_ summary: SessionDatabase.JarSummary) {
            name = Octets(summary.name).description
            href = InspectorPath.jar(summary.name)
            cookies = summary.cookieCount
            sessionCookies = summary.sessionCookieCount
            savedSessions = summary.savedSessionCount
            profile = summary.settings.profile.name ?? "\(summary.settings.profile.rawValue)"
            nextExpiry = summary.nextExpiry?.rfc3339 ?? "–"
        }
    }

    struct Token {
        let name: String
        let account: String
        let issuer: String
        let state: String
        let stateLabel: String
        let expires: String
        let lifetime: LifetimeView?

        init(_ stored: StoredToken, now: Timestamp) {
            name = stored.profile.name
            account = stored.profile.id.account
            issuer = stored.profile.id.issuer
            let validity = stored.tokens.validity(at: now.microseconds)
            state = stored.refusal == nil ? validity.rawValue : "login-required"
            let renewal = stored.isRefreshable(at: now) ? ", renewed when asked for" : ""
            stateLabel = state.replacing("-", with: " ") + (stored.refusal == nil ? renewal : "")
            let expiry = stored.tokens.accessTokenExpiry.map { Timestamp(microseconds: $0) }
            expires = expiry?.rfc3339 ?? "not known"
            lifetime = LifetimeView(
                from: Timestamp(microseconds: stored.tokens.receivedAt), to: expiry, now: now)
        }
    }

    /// A page of jars.
    struct Page {
        let jars: [SessionDatabase.JarSummary]
        /// What the names contain; empty for any name.
        let search: String
        let isFirst: Bool
        let hasMore: Bool
    }

    static let template = "overview"
    let title = "Jars"
    let caller: CallerView?
    let jars: [Jar]
    let hasJars: Bool
    let emptyNote: String
    let search: String
    /// Whether the caller may find anything by searching.
    let hasSearch: Bool
    let hasPages: Bool
    let firstHref: String?
    let nextHref: String?
    let tokens: [Token]
    let hasTokens: Bool
    let seesTokens: Bool

    init(caller: CallerView?, page: Page, tokens: [StoredToken]?, now: Timestamp) {
        self.caller = caller
        jars = page.jars.map(Jar.init)
        hasJars = !jars.isEmpty
        search = page.search
        hasSearch = hasJars || !page.search.isEmpty || !page.isFirst
        hasPages = !page.isFirst || page.hasMore
        firstHref = page.isFirst ? nil : InspectorPath.overview(search: page.search)
        nextHref =
            page.hasMore ? page.jars.last.map { InspectorPath.overview(search: page.search, after: $0.name) } : nil
        emptyNote =
            page.isFirst && page.search.isEmpty
            ? "There are no jars that you may see." : "No further jar has such a name."
        self.tokens = (tokens ?? []).map { Token($0, now: now) }
        hasTokens = !self.tokens.isEmpty
        seesTokens = tokens != nil
    }
}
