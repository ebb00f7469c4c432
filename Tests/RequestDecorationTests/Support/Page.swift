import CookieModel
import RequestDecoration
import SessionStore
import Testing

/// A page in a browser whose cookie store a script is made from, and run against.
struct Page {
    static let now = Timestamp(microseconds: 1_800_000_000_250_000)

    let url: RequestURL
    var store = CookieStore()

    init(_ url: String = "https://www.example.com/shop/cart") throws {
        self.url = try RequestURL(url)
    }

    /// An empty jar in memory.
    static func jar() throws -> CookieJar {
        try SessionDatabase(path: "", keys: .key(SealingKey()), durability: .memory, now: now).jar(now: now)
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
    mutating func script(
        _ writing: InjectionScript.Writing = .once, _ verification: InjectionScript.Verification = .none
    ) -> InjectionScript {
        InjectionScript([access()], writing: writing, verification: verification)
    }

    /// What the page's scripts may set.
    ///
    /// - Parameter topLevel: the page in the address bar, where it is another one.
    mutating func access(topLevel: RequestURL? = nil) -> InjectionScript.Page {
        var context =
            topLevel.map { RequestContext(url: url, topLevel: $0, initiator: .origin(url)) }
            ?? RequestContext(url: url)
        context = context.scriptWriting
        return InjectionScript.Page(store.retrieve(for: context, now: Page.now), in: context)
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
