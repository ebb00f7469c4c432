import CookieModel
import OAuth2
import SessionStore

/// All jars, and the tokens where the caller may see them.
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

    static let template = "overview"
    let title = "Jars"
    let caller: CallerView?
    let jars: [Jar]
    let hasJars: Bool
    let tokens: [Token]
    let hasTokens: Bool
    let seesTokens: Bool

    init(caller: CallerView?, jars: [SessionDatabase.JarSummary], tokens: [StoredToken]?, now: Timestamp) {
        self.caller = caller
        self.jars = jars.map(Jar.init)
        hasJars = !jars.isEmpty
        self.tokens = (tokens ?? []).map { Token($0, now: now) }
        hasTokens = !self.tokens.isEmpty
        seesTokens = tokens != nil
    }
}
