import CookieModel
import RequestDecoration
import SessionStore
import WebViewDecoration

/// A web view without an engine: store, scripts and app, and what was asked of them, in order.
@MainActor
final class WebViewStub: NativeCookieStore, UserScriptHost, WebViewHost {
    nonisolated static let now = Timestamp(seconds: 1_800_000_000)

    var cookies: [NativeCookie.ID: NativeCookie] = [:]
    var scripts: [DocumentStartScript] = []
    var events: [String] = []
    /// Runs whenever the store is used: what a page, or another process, does meanwhile.
    var meanwhile: (() -> Void)?
    /// The longest lifetime that the store keeps.
    var latest: Timestamp?

    func nativeCookies() async -> [NativeCookie] {
        meanwhile?()
        return Array(cookies.values)
    }

    func putNativeCookie(_ cookie: NativeCookie) async {
        meanwhile?()
        var cookie = cookie
        cookie.expiry = cookie.expiry.map { min($0, latest ?? $0) }
        cookies[cookie.id] = cookie
        events.append("put \(cookie.name)=\(cookie.value)")
    }

    func removeNativeCookie(_ cookie: NativeCookie) async {
        cookies[cookie.id] = nil
        events.append("remove \(cookie.name)")
    }

    func replaceUserScripts(_ scripts: [DocumentStartScript]) {
        self.scripts = scripts
        events.append("scripts \(scripts.count)")
    }

    func load(_ url: RequestURL, cookie: Octets?) { events.append("load \(url) \(cookie?.description ?? "-")") }
    func reload() { events.append("reload") }
    func handToSystem(_ url: String) { events.append("system \(url)") }
    func receive(appEvent url: String) { events.append("app \(url)") }
    func startLoginFallback(for url: String) { events.append("fallback \(url)") }
    func show(_ failure: NavigationFailure) { events.append("failure \(failure.code)") }
    func sessionFailed(_ error: SessionStoreError) { events.append("error \(error.code)") }

    /// What the engine does on its own: a page, or a server's answer.
    func set(_ name: String, _ value: String?, isHTTPOnly: Bool = false) {
        let cookie = NativeCookie(name: name, value: value ?? "", domain: "www.example.com", isHTTPOnly: isHTTPOnly)
        cookies[cookie.id] = value == nil ? nil : cookie
    }

    /// The values in the store, by name.
    var values: [String: String] {
        Dictionary(cookies.values.map { ($0.name, $0.value) }) { first, _ in first }
    }
}

/// A jar in memory, and what a server has set in it.
struct SessionJar {
    let jar: CookieJar

    init(_ lines: Octets...) throws {
        jar = try SessionDatabase(path: "", keys: .key(SealingKey()), durability: .memory, now: WebViewStub.now)
            .jar(now: WebViewStub.now)
        for line in lines { try set(line) }
    }

    func set(_ line: Octets) throws {
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        try jar.receive(ReceivedResponse(context: context, setCookie: [line]), now: WebViewStub.now)
    }

    var values: [String: String] {
        get throws {
            Dictionary(try jar.cookies().readable.map { ($0.name.description, $0.value.description) }) { first, _ in
                first
            }
        }
    }
}
