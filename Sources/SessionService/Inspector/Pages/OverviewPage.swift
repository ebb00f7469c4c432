import CookieModel
import OAuth2
import SessionOperations
import SessionStore
import WebPages

/// What the overview shows.
struct Overview {
    /// A part of the jars that the caller may see.
    let jars: [SessionDatabase.JarSummary]
    /// The text that the jars' names contain; empty for any name.
    let search: String
    let isFirst: Bool
    let hasMore: Bool
    /// The gateways that run.
    let gateways: [GatewayReport]
    /// The tokens; `nil` if the caller may not see them.
    let tokens: [StoredToken]?
    let now: Timestamp
}

/// The page of the jars, the gateways and the tokens.
extension InspectorPages {
    func overview(_ overview: Overview) -> InspectorPage {
        let mayFind = !overview.jars.isEmpty || !overview.search.isEmpty || !overview.isFirst
        return InspectorPage(
            title: "Jars",
            content: """
                <h1>Jars</h1>
                \(mayFind ? searchForm(overview.search) : nil)\
                \(jars(of: overview))
                \(otherPages(than: overview))
                \(overview.gateways.isEmpty ? nil : gateways(overview.gateways))\
                \(overview.tokens.map { tokens($0, now: overview.now) })
                """)
    }

    private func searchForm(_ search: String) -> HTML {
        """
        <form method="get" action="\(url(.overview()))" class="search" role="search">
        <label for="name">Name contains</label>
        <input id="name" name="name" type="search" value="\(search)" spellcheck="false">
        <button>Search</button>
        </form>

        """
    }

    private func jars(of overview: Overview) -> HTML {
        guard overview.jars.isEmpty else {
            return .table(
                "Jars",
                [
                    "Jar", .number("Cookies"), .number("Session cookies"), .number("Saved sessions"), "Profile",
                    "Next expiry",
                ], overview.jars.map(row))
        }
        return overview.isFirst && overview.search.isEmpty
            ? "<p>There are no jars that you can see.</p>" : "<p>No more jars match.</p>"
    }

    private func row(_ jar: SessionDatabase.JarSummary) -> HTML {
        """
        <tr><th scope="row"><a href="\(url(.jar(jar.name)))">\(shown(jar.name))</a></th>\
        <td class="number">\(jar.cookieCount)</td>\
        <td class="number">\(jar.sessionCookieCount)</td>\
        <td class="number">\(jar.savedSessionCount)</td>\
        <td>\(jar.settings.profile.name ?? "\(jar.settings.profile.rawValue)")</td>\
        <td>\(HTML.moment(jar.nextExpiry.map { MomentView($0) }, or: "–"))</td></tr>

        """
    }

    private func otherPages(than overview: Overview) -> HTML? {
        guard !overview.isFirst || overview.hasMore else { return nil }
        let first = overview.isFirst ? nil : InspectorPath.overview(search: overview.search)
        let next =
            overview.hasMore
            ? overview.jars.last.map { InspectorPath.overview(search: overview.search, after: $0.name) } : nil
        return """
            <nav aria-label="Pages">\(first.map { "<a href=\"\(url($0))\">First page</a> " })\
            \(next.map { "<a href=\"\(url($0))\" rel=\"next\">Next page</a>" })</nav>
            """
    }

    private func gateways(_ gateways: [GatewayReport]) -> HTML {
        """
        <h2>Gateways</h2>
        \(HTML.table(
            "Gateways",
            [
                "Gateway", "Jar", "Address", .number("Requests"), .number("Cookies sent"), .number("Cookies stored"),
                .number("Failures"),
            ], gateways.map(row)))
        """
    }

    private func row(_ gateway: GatewayReport) -> HTML {
        """
        <tr><th scope="row"><a href="\(url(.gateway(gateway.name)))">\(shownName(Octets(gateway.name)))</a></th>\
        <td>\(shown(gateway.jarText))</td>\
        <td>\(gateway.shownAddresses)</td>\
        <td class="number">\(gateway.requests)</td>\
        <td class="number">\(gateway.cookiesSent)</td>\
        <td class="number">\(gateway.cookiesStored)</td>\
        <td class="number">\(gateway.failures)</td></tr>

        """
    }

    private func tokens(_ tokens: [StoredToken], now: Timestamp) -> HTML {
        let table = HTML.table(
            "Tokens", ["Token", "Account", "Issuer", "State", "Expires", "Lifetime"], tokens.map { row($0, now: now) })
        return """
            <h2>Tokens</h2>
            \(tokens.isEmpty ? "<p>No tokens.</p>" : table)

            """
    }

    private func row(_ stored: StoredToken, now: Timestamp) -> HTML {
        let profile = stored.profile
        let expiry = stored.tokens.accessTokenExpiry
        let state = stored.refusal == nil ? stored.tokens.validity(at: now).rawValue : "login-required"
        let renewal = stored.refusal == nil && stored.isRefreshable(at: now) ? ", renewed on demand" : ""
        return """
            <tr><th scope="row">\(profile.name)</th><td>\(profile.id.account)</td><td>\(profile.id.issuer)</td>\
            <td><span class="state \(state)">\(state.replacing("-", with: " "))\(renewal)</span></td>\
            <td>\(HTML.moment(expiry.map { MomentView($0) }, or: "unknown"))</td>\
            <td>\(HTML.lifetime(from: stored.tokens.receivedAt, to: expiry, now: now))</td></tr>

            """
    }
}
