import WebKit
import WebViewDecoration

/// A web view whose session survives a restart of the app.
@MainActor
final class ShopBrowser {
    let webView = WKWebView(frame: .zero, configuration: WKWebViewConfiguration())
    private let jar: CookieJar

    init(jar: CookieJar) {
        self.jar = jar
    }
}
