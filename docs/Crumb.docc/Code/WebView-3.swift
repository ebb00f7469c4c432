import Foundation
import WebKit
import WebViewDecoration

/// A web view whose session survives a restart of the app.
@MainActor
final class ShopBrowser {
    let webView = WKWebView(frame: .zero, configuration: WKWebViewConfiguration())
    private let jar: CookieJar
    private lazy var session = WebViewSession(
        jar: jar, store: webView.configuration.websiteDataStore.httpCookieStore,
        scripts: WebKitScriptHost(webView.configuration.userContentController), host: self)
    private lazy var delegate = WebKitNavigationDelegate(session)

    init(jar: CookieJar) {
        self.jar = jar
        webView.navigationDelegate = delegate
        webView.uiDelegate = delegate
    }
}

extension ShopBrowser: WebViewHost {
    func load(_ url: RequestURL, cookie: Octets?) {
        guard let address = URL(string: url.description) else { return }
        var request = URLRequest(url: address)
        if let cookie { request.setValue(String(decoding: cookie, as: UTF8.self), forHTTPHeaderField: "Cookie") }
        webView.load(request)
    }

    func reload() { webView.reload() }
    func handToSystem(_ url: String) { print("open \(url) in another app") }
    func receive(appEvent url: String) { print("the page calls the app: \(url)") }
    func startLoginFallback(for url: String) { print("signed out at \(url)") }
    func show(_ failure: NavigationFailure) { print("not loaded: \(failure)") }
    func sessionFailed(_ error: SessionStoreError) { print(error) }
}
