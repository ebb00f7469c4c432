internal import CookieModel

/// The cookies of a site as ``SiteCache`` keeps them: sealed at first, when only what is sent is opened, and from the
/// second question on opened and packed.
struct CachedSite {
    private var sealed: SealedSite?
    private var opened = SiteCookies()
    /// Cookies whose value cannot be read back, without it.
    private var unreadable: [Cookie] = []
    /// Whether the values are still to be opened.
    var isSealed: Bool { sealed != nil }

    /// How much room the site takes: one, and one for each cookie.
    let size: Int

    /// The rows of a site, values sealed.
    init(_ sealed: SealedSite) {
        self.sealed = sealed
        size = 1 + sealed.count
    }

    /// Opens all values, which pays where a site is asked for again.
    mutating func open(_ jar: CookieJar) {
        guard let sealed else { return }
        let (readable, unreadable) = jar.opened(sealed.cookies)
        opened = SiteCookies(readable)
        self.unreadable = unreadable
        self.sealed = nil
    }

    /// What goes to a request and what stays (section 5.8.3 of the draft); notes the access.
    mutating func retrieve(_ question: inout SiteQuestion) -> Retrieval {
        let rules = question.rules
        if let cookies = sealed?.cookies {
            let retrieval = rules.retrieval(from: cookies, opening: question.jar.opener())
            for cookie in retrieval.included where question.accesses.note(lastAccess: cookie.lastAccess, cookie.id) {
                sealed?.touch(cookies.indices.filter { cookies[$0].id == cookie.id }, at: rules.now)
            }
            return retrieval
        }
        var retrieval = opened.retrieve(rules, &question.accesses)
        retrieval.addExclusions(of: rules.retrieval(from: unreadable) { _ in nil })
        return retrieval
    }

    /// The cookie-string alone; notes the access.
    mutating func cookieString(_ question: inout SiteQuestion) -> Octets {
        sealed?.cookieString(&question) ?? opened.cookieString(question.rules, &question.accesses)
    }
}
