import CookieModel
import OAuth2
import SessionOperations
import SessionStore

/// A page of the jars, and the tokens if the caller may see them.
struct OverviewView: InspectorView {
    struct Jar {
        let name: String
        let href: String
        let cookies: Int
        let sessionCookies: Int
        let savedSessions: Int
        let profile: String
        /// The next expiry of a cookie.
        let moment: MomentView?

        init(_ summary: SessionDatabase.JarSummary) {
            name = Octets(summary.name).description
            href = InspectorPath.jar(summary.name)
            cookies = summary.cookieCount
            sessionCookies = summary.sessionCookieCount
            savedSessions = summary.savedSessionCount
            profile = summary.settings.profile.name ?? "\(summary.settings.profile.rawValue)"
            moment = summary.nextExpiry.map { MomentView($0) }
        }
    }

    struct Token {
        let name: String
        let account: String
        let issuer: String
        let state: String
        let stateLabel: String
        /// The expiry of the access token.
        let moment: MomentView?
        let lifetime: LifetimeView?

        init(_ stored: StoredToken, now: Timestamp) {
            name = stored.profile.name
            account = stored.profile.id.account
            issuer = stored.profile.id.issuer
            let validity = stored.tokens.validity(at: now)
            state = stored.refusal == nil ? validity.rawValue : "login-required"
            let renewal = stored.isRefreshable(at: now) ? ", renewed on demand" : ""
            stateLabel = state.replacing("-", with: " ") + (stored.refusal == nil ? renewal : "")
            let expiry = stored.tokens.accessTokenExpiry
            moment = expiry.map { MomentView($0) }
            lifetime = LifetimeView(
                from: stored.tokens.receivedAt, to: expiry, now: now)
        }
    }

    /// A page of jars.
    struct Page {
        let jars: [SessionDatabase.JarSummary]
        /// The text that the names contain; empty for any name.
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
    let gateways: [GatewaySummary]
    let hasGateways: Bool

    init(caller: CallerView?, page: Page, gateways: [GatewaySummary], tokens: [StoredToken]?, now: Timestamp) {
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
            ? "There are no jars that you can see." : "No more jars match."
        self.tokens = (tokens ?? []).map { Token($0, now: now) }
        hasTokens = !self.tokens.isEmpty
        seesTokens = tokens != nil
        self.gateways = gateways
        hasGateways = !gateways.isEmpty
    }
}

/// The viewer of a page.
struct CallerView {
    let name: String
    /// Whether the caller signed in here. On a Unix-domain socket, no sign-in is needed.
    let canSignOut: Bool
}

struct SignInView: InspectorView {
    static let template = "sign-in"
    let title = "Sign in"
    let caller: CallerView? = nil
    let refused: Bool
    /// The page to go to afterwards: a path of this service.
    let to: String
}

struct ForeignLinkView: InspectorView {
    static let template = "foreign-link"
    let title = "A link from another site"
    let caller: CallerView? = nil
    /// The page that the link leads to: a path of this service.
    let href: String
}

struct ProblemView: InspectorView {
    static let template = "problem"
    let title: String
    let caller: CallerView?
    let detail: String
}

/// The outcome of a site's cookies for one request.
struct AnswerView {
    struct Reason {
        let id: String
        let explanation: String
        let remedy: String?
    }

    struct Row {
        let name: String
        let domain: String
        let path: String
        let kind: String
        let label: String
        let reasons: [Reason]
        /// The changes of the cookie.
        let notes: [String]
    }

    let verdict: String
    let rows: [Row]
    let hasRows: Bool
    let hints: [String]

    init(_ explanation: Explanation, mentions: (_ jar: String) -> Bool) {
        let isScript = explanation.context.interface == .script
        let report = ExplanationReport(explanation)
        verdict = report.verdict(isScript: isScript)
        let remarks = CookieRemarks(report)
        func described(_ reasons: [ReasonReport]) -> [Reason] {
            reasons.map { Reason(id: $0.id, explanation: $0.explanation, remedy: $0.remedy) }
        }
        func row(_ cookie: CookieReport, _ kind: String, _ label: String, _ reasons: [ReasonReport]) -> Row {
            Row(
                name: shownName(cookie.nameOctets), domain: cookie.shownDomain, path: cookie.path, kind: kind,
                label: label,
                reasons: described(reasons),
                notes: remarks.remarks(on: cookie, isSent: kind == "sent"))
        }
        rows =
            report.included.map { row($0, "sent", isScript ? "visible" : "sent", []) }
            + report.excluded.map { row($0.cookie, "unsent", isScript ? "hidden" : "not sent", $0.reasons) }
            + report.gone.map { change in
                Row(
                    name: shownName(change.identity.nameOctets),
                    domain: "\(change.hostOnly ? "" : ".")\(change.domain)", path: change.path, kind: "unsent",
                    label: change.cause, reasons: [], notes: [change.sentence(at: explanation.now)])
            }
            + (report.rejected ?? []).map { rejection in
                Row(
                    name: rejection.shownName, domain: rejection.host, path: "", kind: "unsent", label: "rejected",
                    reasons: described(rejection.reasons), notes: [rejection.sentence(at: explanation.now)])
            }
        hasRows = !rows.isEmpty
        hints =
            (explanation.better.map { ["\($0.sent) of them would be sent to \($0.url)"] } ?? [])
            + explanation.lostLogins.map { "\($0.sentence)." }
            + explanation.otherJars.filter { mentions($0.name) }.map {
                "\($0.sentence)."
            }
            + (explanation.similarSites.isEmpty
                ? [] : ["The jar has cookies of similar sites: \(explanation.similarSites.joined(separator: ", "))"])
    }
}
