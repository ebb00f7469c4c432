import CookieModel
import SessionOperations
import WebPages

/// The pages without a table: signing in, errors, and one value.
extension InspectorPages {
    /// The form for an access token.
    ///
    /// - Parameters:
    ///   - refused: Whether another token was not accepted.
    ///   - destination: The page to go to afterwards.
    func signIn(refused: Bool, to destination: InspectorPath) -> InspectorPage {
        let alert = refused ? HTML.alert("This access token is not valid, or it was revoked.") : nil
        return InspectorPage(
            title: "Sign in",
            content: """
                <h1>Sign in</h1>
                \(alert)
                <form method="post" action="\(url(.signIn()))" class="stacked">
                <label for="token">Access token</label>
                <input id="token" name="token" type="password" autocomplete="off" required autofocus spellcheck="false">
                <input type="hidden" name="to" value="\(destination.description)">
                <p class="note">Your own access token is in the file that the service named at its first start. \
                Create more with <code>crumb serve token create</code>.</p>
                <button>Sign in</button>
                </form>

                """)
    }

    /// The page for someone who follows another site's link.
    ///
    /// - Parameter destination: The page that the link leads to.
    func foreignLink(to destination: InspectorPath) -> InspectorPage {
        let title = "A link from another site"
        let alert = HTML.alert(
            "A page of another site opened this address. The browser did not send your sign-in, so nothing is shown.")
        return InspectorPage(
            title: title,
            content: """
                <h1>\(title)</h1>
                \(alert)
                <p>To continue: <a href="\(url(destination))">Open the page</a></p>

                """)
    }

    /// Why a page cannot be shown.
    func problem(_ title: String, detail: String) -> InspectorPage {
        InspectorPage(
            title: title,
            content: """
                <h1>\(title)</h1>
                \(HTML.alert(detail))
                <p><a href="\(url(.overview()))">All jars</a></p>

                """)
    }

    /// The value of a cookie, for a browser without scripts.
    func value(of cookie: Cookie, in jar: String) -> InspectorPage {
        let title = "The value of \(shownName(cookie.name))"
        return InspectorPage(
            title: title,
            content: """
                \(breadcrumb(jar: jar))
                <h1>\(title)</h1>
                <p class="note">\(cookie.id.shownDomain)\(cookie.path.description)</p>
                <pre class="value"><output>\(cookie.value.description)</output></pre>
                <p><a href="\(url(.jar(jar)))">Hide the value</a></p>

                """)
    }
}
