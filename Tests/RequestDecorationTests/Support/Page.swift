import CookieModel
import RequestDecoration
import Testing

/// A page in a browser whose cookie store a script is made from, and run against.
struct Page {
    static let now = Timestamp(microseconds: 1_800_000_000_250_000)

    let url: RequestURL
    var store = CookieStore()

    init(_ url: String = "https://www.example.com/shop/cart") throws {
        self.url = try RequestURL(url)
    }

    /// Receives lines as if the page's server had sent them; each must be stored.
    mutating func receive(_ lines: Octets..., from url: String? = nil) throws {
        let context = RequestContext(url: try url.map { try RequestURL($0) } ?? self.url)
        for line in lines {
            let decision = store.receive(line, in: context, now: Page.now)
            #expect(decision.outcome != .rejected, "\(line): \(decision.reasons)")
        }
    }

    /// The script for the page.
    mutating func script() -> InjectionScript {
        var context = RequestContext(url: url)
        context.interface = .script
        return InjectionScript(store.retrieve(for: context, now: Page.now), page: url)
    }

    /// What an empty browser's cookie store holds after the page's script has set these.
    func cookies(settingAll lines: [Octets]) -> [Cookie] {
        var context = RequestContext(url: url)
        context.interface = .script
        var browser = CookieStore()
        for line in lines {
            let decision = browser.receive(line, in: context, now: Page.now)
            #expect(decision.outcome == .stored, "\(line): \(decision.outcome) \(decision.reasons)")
        }
        return browser.cookies
    }
}

extension Cookie {
    /// The cookie as another store would hold it: without what each store counts for itself, and with its expiry in
    /// whole seconds, since an Expires attribute has no more.
    var carried: Cookie {
        var cookie = self
        cookie.sequence = 0
        cookie.creation = Page.now
        cookie.lastAccess = Page.now
        cookie.expiry = cookie.expiry.map { Timestamp(seconds: $0.seconds) }
        return cookie
    }
}
