// 3: an app with a web view, whose engine is a substitute: the session goes into the web view and comes back.
import AppSupport
import WebViewDecoration

@main @MainActor
struct WebView {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
        let jar = try await database.jar()
        let shop = try RequestURL("https://www.shop.example/cart")
        try await jar.receive(
            ReceivedResponse(
                context: RequestContext(url: shop),
                setCookie: ["sid=1; Path=/; Secure; HttpOnly", "theme=dark; Path=/; Secure; Max-Age=86400"]))

        var policy = NavigationPolicy()
        policy.appSchemes = ["shopapp"]
        let handler = MessageHandlerName("crumb")
        var engine = Engine()
        var session = WebViewSession(
            jar: jar, store: engine, scripts: engine, host: engine, navigationPolicy: policy, captureHandler: handler)
        await session.load(shop)
        expect(engine.names, ["sid", "theme"], "the session is in the native store before the page is loaded")
        expect(engine.scripts.map(\.world), [.isolated, .page], "one script sets cookies, and one captures changes")

        // The page changes a cookie, and tries to forge one that only servers can set.
        func capture(_ line: String) async throws -> StorageDecision? {
            let message =
                #"{"crumb":"capture","kind":"cookie","url":"https://www.shop.example/cart","line":"\#(line)"}"#
            return try await session.receive(message: message, from: ScriptFrame(url: shop, topLevel: shop)).first
        }
        expect(try await capture("theme=light; Path=/; Secure")?.outcome, .replaced, "the page changes its cookie")
        expect(try await capture("sid=2; Path=/; Secure")?.outcome, .rejected, "no script changes an HttpOnly cookie")

        // A server signs the user in again: its cookie is in the native store only, until the page has loaded.
        await engine.putNativeCookie(
            NativeCookie(name: "sid", value: "3", domain: "www.shop.example", isSecure: true, isHTTPOnly: true))
        await session.perform(await session.decide(.finished(url: "\(shop)")))
        expect(try await jar.cookieString(for: RequestContext(url: shop)), "sid=3; theme=light", "the jar has it")

        // The app starts again, with an empty web view.
        engine = Engine()
        session = WebViewSession(
            jar: jar, store: engine, scripts: engine, host: engine, navigationPolicy: policy, captureHandler: handler)
        let cart = await session.decide(.action(NavigationAction(url: "\(shop)")))
        expect(cart.answer, .cancel, "a page without its session is not loaded as it is")
        await session.perform(cart)
        expect(engine.names, ["sid", "theme"], "the session is back, session cookies included")

        for url in ["shopapp://done", "tel:112"] {
            await session.perform(await session.decide(.action(NavigationAction(url: url))))
        }
        let response = NavigationResponse(url: "\(shop)", status: 401)
        await session.perform(await session.decide(.response(response)))
        for _ in 1...4 { await session.perform(await session.decide(.processTerminated)) }
        let expected =
            ["load /cart", "app shopapp://done", "system tel:112", "log in"]
            + ["reload", "reload", "reload", "failed WKErrorDomain"]
        expect(engine.calls, expected, "the app is asked to do what its web view cannot")
    }
}

/// The engine of a web view, and the app around it. `WKHTTPCookieStore` and `WebKitScriptHost` are there already.
@MainActor
final class Engine: NativeCookieStore, UserScriptHost, WebViewHost {
    private var cookies: [NativeCookie.ID: NativeCookie] = [:]
    private(set) var scripts: [DocumentStartScript] = []
    private(set) var calls: [String] = []
    var names: [String] { cookies.values.map(\.name).sorted() }

    func nativeCookies() async -> [NativeCookie] { Array(cookies.values) }
    func putNativeCookie(_ cookie: NativeCookie) async { cookies[cookie.id] = cookie }
    func removeNativeCookie(_ cookie: NativeCookie) async { cookies[cookie.id] = nil }
    func replaceUserScripts(_ scripts: [DocumentStartScript]) { self.scripts = scripts }

    func load(_ url: RequestURL, cookie: Octets?) { calls.append("load \(url.path)") }
    func reload() { calls.append("reload") }
    func handToSystem(_ url: String) { calls.append("system \(url)") }
    func receive(appEvent url: String) { calls.append("app \(url)") }
    func startLoginFallback(for url: String) { calls.append("log in") }
    func show(_ failure: NavigationFailure) { calls.append("failed \(failure.domain)") }
    func sessionFailed(_ error: SessionStoreError) { calls.append("error \(error)") }
}
