import SessionOperations
import WebPages

/// The inspector's pages: functions that turn what the store reports into markup. They decide nothing about access.
struct InspectorPages: Sendable {
    /// The prefix of all paths, behind a proxy: empty, or as in `/crumb`.
    let base: String

    /// The style sheet: the style of all pages of Crumb, and the rules for tables and forms.
    static let style = Array(MessagePage.style.utf8) + PackageResources.inspector_css

    /// The address of a page for the browser.
    func url(_ path: InspectorPath) -> String {
        base + path.description
    }

    /// The whole document of a page.
    ///
    /// - Parameter caller: The viewer; `nil` on pages for everyone.
    func document(_ page: InspectorPage, for caller: CallerView?) -> String {
        let document = HTML.document(
            title: "\(page.title) · Crumb",
            head: """
                <link rel="stylesheet" href="\(url(.styleSheet))">
                <script type="module" src="\(url(.script))"></script>
                """,
            body: """
                <a class="skip" href="#main">Skip to content</a>
                <header>
                <a class="home" href="\(url(.overview()))">Crumb</a>
                \(caller.map(signedIn))
                </header>
                <main id="main" tabindex="-1">
                \(page.content)</main>
                """)
        return document.markup
    }

    private func signedIn(_ caller: CallerView) -> HTML {
        let button: HTML = """
            <form method="post" action="\(url(.signOut))"><button>Sign out</button></form>
            """
        return """
            <p class="caller">Signed in as \(caller.name)</p>\(caller.canSignOut ? button : nil)
            """
    }

    /// The way back from a page to the overview.
    ///
    /// - Parameter jar: The jar in between; `nil` for none.
    func breadcrumb(jar: String? = nil) -> HTML {
        let jar: HTML? = jar.map { " › <a href=\"\(url(.jar($0)))\">\(shown($0))</a>" }
        return """
            <nav aria-label="Breadcrumb"><a href="\(url(.overview()))">Jars</a>\(jar)</nav>
            """
    }
}

/// A page of the inspector.
struct InspectorPage {
    /// The title of the window, without the program's name.
    let title: String
    /// The content of the element `main`: whole lines.
    let content: HTML
}

/// The viewer of a page.
struct CallerView {
    let name: String
    /// Whether the caller signed in here. On a Unix-domain socket, no sign-in is needed.
    let canSignOut: Bool
}
