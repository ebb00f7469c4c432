import CookieModel
import HTTPTypes
import OAuth2
import SessionStore
import Testing

@testable import RequestDecoration

@Suite("What is printed of values that hold secrets")
struct HiddenValueTests {
    private static let secret = "opensesame"

    /// All that a program or a debugger may print of a value.
    private func printed(_ value: some Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), "\([value])", "\(Optional(value) as Any)", dumped]
            .joined(separator: "\n")
    }

    private func plan() throws -> WebViewPlan {
        let context = RequestContext(url: try RequestURL("https://www.shop.example/"))
        var store = CookieStore()
        for line in ["sid=\(HiddenValueTests.secret); HttpOnly; Path=/", "theme=\(HiddenValueTests.secret); Path=/"] {
            store.receive(line, in: context, now: Page.now)
        }
        store.receive(Octets(Array("raw=\(HiddenValueTests.secret)".utf8) + [0xFF]), in: context, now: Page.now)
        return WebViewPlan(for: context, cookies: store.cookies, native: [], policy: CookiePolicy(), now: Page.now)
    }

    @Test("No cookie, plan, script, response or field prints its value")
    func hidden() throws {
        let plan = try plan()
        let native = NativeCookie(name: "sid", value: HiddenValueTests.secret, domain: ".shop.example")
        let changed = ChangedCookie(
            name: "sid", value: HiddenValueTests.secret, domain: nil, path: "/", expiry: nil, isSecure: true,
            sameSite: .lax, isPartitioned: false)
        let field = HTTPField(name: .userAgent, value: HiddenValueTests.secret)
        let values: [Any] = [
            native, changed, plan, plan.script, StoreDiff.Change.putIntoNative(native),
            StoreDiff.Action(change: .takeIntoJar(native), reason: .onlyInNative),
            StoreDiff.Base(jar: [native], native: [native]),
            ResponseHead(
                status: 302, location: Octets("/in?code=\(HiddenValueTests.secret)"),
                setCookie: [Octets("sid=\(HiddenValueTests.secret)")]),
            FieldRule(field),
        ]
        for value in values + plan.steps + plan.omissions {
            #expect(!printed(value).contains(HiddenValueTests.secret), "\(type(of: value))")
        }
        #expect(plan.steps.contains { if case .load(_, cookie: _?) = $0 { true } else { false } })
        #expect("\(native)" == "sid (.shop.example/, value hidden)")
        #expect(
            "\(StoreDiff.Change.putIntoNative(native))" == "putIntoNative(sid (.shop.example/, value hidden))")
    }

    @Test("A gateway prints its user, and neither it nor its plan and its URL the secret")
    func gateway() throws {
        let credentials = WebViewGateway.Credentials(user: "ada", secret: Secret(HiddenValueTests.secret))
        var gateway = WebViewGateway(port: 8080)
        gateway.credentials = credentials
        let plan = WebViewPlan(for: try RequestURL("https://www.shop.example/"), through: gateway)
        let values: [Any] = [credentials, gateway, plan, gateway.proxyURL]
        for value in values + plan.steps {
            #expect(!printed(value).contains(HiddenValueTests.secret), "\(type(of: value))")
        }
        #expect(plan.steps.first.map { "\($0)" } == "use gateway http://127.0.0.1:8080 as user ada")
        #expect(gateway.proxyURL == "http://127.0.0.1:8080")
    }
}
