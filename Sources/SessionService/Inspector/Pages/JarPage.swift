import CookieModel
import PublicSuffix
import SessionOperations
import SessionStore
import WebPages

/// What the page of a jar shows: the cookies by site, and the latest changes.
struct JarContents {
    let jar: String
    let sites: [SiteCookiesView]
    /// Whether the caller may request values.
    let showsValues: Bool
    let changes: ChangePage
    let now: Timestamp

    init(_ jar: CookieJar, showsValues: Bool, changes: ChangePage, now: Timestamp) throws {
        var sites: [SiteCookiesView] = []
        try jar.forEachSite { readable, unreadable in
            let current = readable.filter { !$0.isExpired(at: now) }
            guard let host = (readable.first ?? unreadable.first)?.domain, !current.isEmpty || !unreadable.isEmpty
            else { return }
            let site = String(decoding: host.registrableDomain(jar.policy.publicSuffixes), as: UTF8.self)
            sites.append(SiteCookiesView(site: site, readable: current, unreadable: unreadable))
        }
        self.jar = jar.name
        self.sites = sites.sorted { $0.site < $1.site }
        self.showsValues = showsValues
        self.changes = changes
        self.now = now
    }
}

/// The question about a request on the page of a jar, and the answer to it.
struct JarQuestion {
    var url = ""
    var topLevel = ""
    var isScript = false
    /// Why there is no answer.
    var problem: String?
    var answer: JarAnswer?
}

/// The page of one jar: a form to ask about its cookies, the cookies by site, and the changes.
extension InspectorPages {
    func jar(_ contents: JarContents, _ question: JarQuestion) -> InspectorPage {
        let title = "Jar \(shown(contents.jar))"
        let sites = contents.sites
        let count = sites.reduce(0) { $0 + $1.count }
        let tables = sites.map {
            cookies(
                $0, of: contents.jar, showsValues: contents.showsValues, isOpen: sites.count <= 5, now: contents.now)
        }
        return InspectorPage(
            title: title,
            content: """
                \(breadcrumb())
                <h1>\(title)</h1>
                <p><a href="\(url(.cache(contents.jar)))">Cache of responses</a></p>
                \(form(for: question, about: contents.jar))\
                <section aria-labelledby="cookies">
                <h2 id="cookies">Cookies</h2>
                <p>\(counted(count, "cookie")) of \(counted(sites.count, "site"))</p>
                \(tables)</section>
                \(changes(contents.changes, of: contents.jar))
                """)
    }

    private func form(for question: JarQuestion, about jar: String) -> HTML {
        """
        <section aria-labelledby="why">
        <h2 id="why">Explain a request</h2>
        <form method="get" action="\(url(.jar(jar)))" class="question">
        <label for="url">URL of a request or page</label>
        <input id="url" name="url" type="url" value="\(question.url)" \
        placeholder="https://www.example.com/account" required spellcheck="false">
        <label for="top-level">Page in the address bar, if different</label>
        <input id="top-level" name="top-level" type="url" value="\(question.topLevel)" spellcheck="false">
        <label class="check"><input type="checkbox" name="script" value="true"\
        \(question.isScript ? " checked" : nil)> for scripts of the page</label>
        <button>Explain</button>
        </form>
        \(question.problem.map(HTML.alert))
        \(question.answer?.html)</section>

        """
    }

    private func changes(_ page: ChangePage, of jar: String) -> HTML {
        let items: [HTML] = page.changes.reversed().map { change in
            let cause = change.cause.identifier
            return """
                <li>\(HTML.moment(MomentView(change.time))) <span class="cause \(cause)">\(cause)</span> \
                \(change.cookie.label)</li>

                """
        }
        return """
            <section aria-labelledby="changes" data-events="\(url(.changes(jar, after: page.position)))">
            <h2 id="changes">Changes</h2>
            <p class="note live-note">Reload the page to see newer changes.</p>
            <ol class="changes" reversed aria-live="polite" aria-relevant="additions">
            \(items)</ol>
            </section>

            """
    }
}
