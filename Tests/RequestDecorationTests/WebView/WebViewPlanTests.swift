import CookieModel
import OAuth2
import RequestDecoration
import SessionStore
import Testing

@Suite("Plans for web views")
struct WebViewPlanTests {
    /// The plan for a page out of what servers have set.
    private func plan(
        for url: String = "https://www.example.com/shop/cart", native: [NativeCookie]? = [],
        capabilities: NativeStoreCapabilities = .webKit, _ lines: [(line: Octets, url: String)]
    ) throws -> WebViewPlan {
        var store = CookieStore()
        for (line, url) in lines {
            let decision = store.receive(line, in: RequestContext(url: try RequestURL(url)), now: Page.now)
            #expect(decision.outcome == .stored, "\(line)")
        }
        return WebViewPlan(
            for: RequestContext(url: try RequestURL(url)), cookies: store.cookies, native: native,
            capabilities: capabilities, policy: CookiePolicy(), now: Page.now)
    }

    private static let session: [(line: Octets, url: String)] = [
        ("sid=1; HttpOnly; Secure; Path=/; SameSite=Lax", "https://www.example.com/"),
        ("theme=dark; Path=/", "https://www.example.com/"),
        ("api=2; HttpOnly; Path=/", "https://api.example.com/"),
        ("idp=3; Domain=login.test; Path=/", "https://login.test/"),
    ]

    @Test("The native store gets the whole jar, including HttpOnly cookies, and then the request needs nothing else")
    func order() throws {
        let plan = try plan(WebViewPlanTests.session)
        #expect(Set(plan.nativeCookies.map(\.name)) == ["sid", "theme", "api", "idp"])
        let sid = try #require(plan.nativeCookies.first { $0.name == "sid" })
        #expect(sid.isHTTPOnly && sid.isSecure && sid.sameSite == .lax && sid.domain == "www.example.com")
        #expect(plan.nativeCookies.first { $0.name == "idp" }?.domain == ".login.test")
        #expect(plan.cookieString == nil && plan.omissions.isEmpty)
        #expect(Set(plan.expectedCookies.map(\.name)) == ["sid", "theme"])
        let kinds = plan.steps.map { step in
            switch step {
            case .useGateway: "gateway"
            case .useSchemes: "schemes"
            case .putIntoStore: "put"
            case .installScript: "install"
            case .load: "load"
            case .verify: "verify"
            }
        }
        #expect(kinds == ["put", "install", "load", "verify"])
        #expect(plan.script.cookies.map(\.name) == ["theme"])
    }

    @Test("The script of a plan has cookies of other paths, and the plan checks only those of the page")
    func otherPaths() throws {
        let plan = try plan([
            ("api=1; Path=/api", "https://www.example.com/"), ("a=1; Path=/", "https://www.example.com/"),
        ])
        #expect(plan.script.cookies.map(\.name) == ["api", "a"] && plan.script.unverifiable.map(\.name) == ["api"])
        #expect(plan.expectedCookies.map(\.name) == ["a"])
    }

    @Test("Cookies that the native store has are not put again; those that differ are")
    func differences() throws {
        let full = try plan(WebViewPlanTests.session)
        var native = full.nativeCookies
        #expect(try plan(native: native, WebViewPlanTests.session).nativeCookies.isEmpty)
        let index = try #require(native.firstIndex { $0.name == "sid" })
        native[index].value = "other"
        #expect(try plan(native: native, WebViewPlanTests.session).nativeCookies.map(\.name) == ["sid"])
        #expect(full.missingCookies(in: native).map(\.name) == ["sid"])
        #expect(full.missingCookies(in: full.nativeCookies).isEmpty)
        #expect(full.missingCookies(in: []).count == 2)
    }

    @Test("A store that does not report SameSite still has the cookie")
    func sameSite() throws {
        let full = try plan(WebViewPlanTests.session)
        let native = full.nativeCookies.map { cookie in
            var copy = cookie
            copy.sameSite = .default
            return copy
        }
        #expect(try plan(native: native, WebViewPlanTests.session).nativeCookies.isEmpty)
    }

    @Test("Without a native store, the request carries the cookies")
    func withoutStore() throws {
        let plan = try plan(native: nil, WebViewPlanTests.session)
        #expect(plan.nativeCookies.isEmpty && plan.expectedCookies.isEmpty)
        #expect(plan.cookieString == "sid=1; theme=dark")
    }

    @Test(
        "Cookies that the native store cannot hold are listed, and then sent with the request",
        arguments: [
            (Octets([0x61, 0x3D, 0xFF]), NativeCookie.Obstacle.octetsNotUTF8, NativeStoreCapabilities.webKit, 1),
            ("=nameless", .namelessNotHeld, .webKit, 1),
            ("p=1; Secure; Path=/; Partitioned", .partitionNotHeld, .webKit, 1),
            ("=nameless", .namelessNotHeld, .namelessCookies, 0),
            ("p=1; Secure; Path=/; Partitioned", .partitionNotHeld, .partitions, 0),
        ])
    func obstacles(line: Octets, obstacle: NativeCookie.Obstacle, capabilities: NativeStoreCapabilities, count: Int)
        throws
    {
        let plan = try plan(
            capabilities: capabilities,
            [(line, "https://www.example.com/shop/"), ("b=2; Path=/", "https://www.example.com/")])
        #expect(plan.omissions.map(\.obstacle) == Array(repeating: obstacle, count: count))
        #expect((plan.cookieString != nil) == (count > 0))
        #expect(plan.nativeCookies.count == 2 - count)
    }

    @Test("A plan has no expired cookies, and lifetimes in whole seconds")
    func expired() throws {
        var store = CookieStore()
        let url = try RequestURL("https://www.example.com/")
        store.receive("a=1; Max-Age=60", in: RequestContext(url: url), now: Page.now)
        store.receive("b=1; Max-Age=600", in: RequestContext(url: url), now: Page.now)
        let later = Page.now.advanced(bySeconds: 61)
        let plan = WebViewPlan(
            for: RequestContext(url: url), cookies: store.cookies, native: [], policy: CookiePolicy(), now: later)
        #expect(plan.nativeCookies.map(\.name) == ["b"] && plan.script.cookies.map(\.name) == ["b"])
        #expect(plan.nativeCookies.first?.expiry == Timestamp(seconds: Page.now.seconds + 600))
    }

    @Test("A jar's plan has all of its cookies")
    func jar() throws {
        let jar = try Page.jar()
        let url = try RequestURL("https://www.example.com/")
        try jar.receive(
            ReceivedResponse(context: RequestContext(url: url), setCookie: ["sid=1; HttpOnly", "theme=2"]),
            now: Page.now)
        let plan = try jar.webViewPlan(for: RequestContext(url: url), native: [], now: Page.now)
        #expect(plan.nativeCookies.map(\.value).sorted() == ["1", "2"])
        #expect(plan.script.cookies.map(\.name) == ["theme"])
    }

    @Test("A plan through a gateway has the credentials of the user, and they belong to the gateway's identity")
    func credentials() throws {
        func gateway(_ user: String, _ secret: String) -> WebViewGateway {
            var gateway = WebViewGateway(port: 8080)
            gateway.credentials = WebViewGateway.Credentials(user: user, secret: Secret(secret))
            return gateway
        }
        let ada = gateway("ada", "1")
        let plan = WebViewPlan(for: try RequestURL("https://www.example.com/"), through: ada)
        guard case .useGateway(let used)? = plan.steps.first else {
            Issue.record("no gateway")
            return
        }
        #expect(used.credentials?.user == "ada" && used.credentials?.secret.exposedText == "1")
        #expect(used == gateway("ada", "1") && used.hashValue == gateway("ada", "1").hashValue)
        let others = [gateway("ada", "2"), gateway("ben", "1"), WebViewGateway(port: 8080)]
        #expect(!others.contains(ada) && Set(others + [ada]).count == 4)
        #expect(WebViewGateway(port: 8080).credentials == nil)
    }

    @Test("Each obstacle has its own explanation")
    func explanations() {
        let explanations = NativeCookie.Obstacle.allCases.map(\.explanation)
        #expect(Set(explanations).count == explanations.count && explanations.allSatisfy { !$0.isEmpty })
    }
}
