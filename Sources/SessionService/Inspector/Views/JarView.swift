import CookieModel
import PublicSuffix
import SessionOperations
import SessionStore

/// One jar: a form to ask about its cookies, the cookies by site, and the changes.
struct JarView: InspectorView {
    struct Site {
        let site: String
        let summary: String
        let isOpen: Bool
        let cookies: [CookiePage]
    }

    struct Change {
        let moment: MomentView
        let cause: String
        let cookie: String

        init(_ change: CookieChange) {
            moment = MomentView(change.time)
            cause = change.cause.identifier
            cookie = change.cookie.label
        }
    }

    static let template = "jar"
    let title: String
    let caller: CallerView?
    let name: String
    let href: String
    let cacheHref: String
    var url = ""
    var topLevel = ""
    var isScript = false
    var problem: String?
    var answer: AnswerView?
    let total: String
    let sites: [Site]
    let changes: [Change]
    let position: Int64

    init(
        _ jar: CookieJar, caller: CallerView?, showsValues: Bool, changes: ChangePage, now: Timestamp
    ) throws {
        let shownName = Octets(jar.name).description
        title = "Jar \(shownName)"
        self.caller = caller
        name = shownName
        let href = InspectorPath.jar(jar.name)
        self.href = href
        cacheHref = InspectorPath.cache(jar.name)
        var sites: [(name: String, cookies: [CookiePage])] = []
        var count = 0
        try jar.forEachSite { readable, unreadable in
            let rows =
                readable.filter { !$0.isExpired(at: now) }.map {
                    CookiePage($0, jarHref: href, showsValue: showsValues, now: now)
                }
                + unreadable.map {
                    CookiePage($0, jarHref: href, showsValue: false, isUnreadable: true, now: now)
                }
            guard let host = (readable.first ?? unreadable.first)?.domain, !rows.isEmpty else { return }
            let site = String(decoding: host.registrableDomain(jar.policy.publicSuffixes), as: UTF8.self)
            count += rows.count
            sites.append((site, rows))
        }
        total = "\(counted(count, "cookie")) of \(counted(sites.count, "site"))"
        self.sites = sites.sorted { $0.name < $1.name }.map { site in
            Site(
                site: site.name, summary: counted(site.cookies.count, "cookie"), isOpen: sites.count <= 5,
                cookies: site.cookies)
        }
        self.changes = changes.changes.reversed().map(Change.init)
        position = changes.position
    }
}

extension Cookie.ID {
    /// The cookie for a person: name and place.
    var label: String {
        "\(shownName(name)) of \(isHostOnly ? "" : ".")\(domain)\(path)"
    }
}
