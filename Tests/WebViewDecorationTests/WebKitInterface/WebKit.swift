// swift-format-ignore-file
// What the adapter uses of Apple's WebKit, as its interface declares it: for a compiler, not for running.
@_exported import Foundation
@_exported import Network
import Security

#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#endif

#if !canImport(ObjectiveC)
    // What Foundation has on Apple's systems only.
    public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
        public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
    }

    extension HTTPCookie {
        public var sameSitePolicy: HTTPCookieStringPolicy? { nil }
    }

    extension URLProtectionSpace {
        public var serverTrust: SecTrust? { nil }
    }

    extension URLCredential {
        public convenience init(trust: SecTrust) { fatalError("not for running") }
    }

    extension HTTPCookiePropertyKey {
        public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
    }
#endif

@MainActor open class WKHTTPCookieStore {
    public func allCookies() async -> [HTTPCookie] { [] }
    public func setCookie(_ cookie: HTTPCookie) async {}
    public func deleteCookie(_ cookie: HTTPCookie) async {}
}

@MainActor open class WKContentWorld {
    public static var page: WKContentWorld { WKContentWorld() }
    public static func world(name: String) -> WKContentWorld { WKContentWorld() }
}

public enum WKUserScriptInjectionTime: Int, Sendable {
    case atDocumentStart, atDocumentEnd
}

@MainActor open class WKUserScript {
    public init(
        source: String, injectionTime: WKUserScriptInjectionTime, forMainFrameOnly: Bool,
        in contentWorld: WKContentWorld
    ) {}
}

@MainActor open class WKUserContentController {
    public var userScripts: [WKUserScript] { [] }
    public func addUserScript(_ userScript: WKUserScript) {}
    public func removeAllUserScripts() {}
    public func add(
        _ scriptMessageHandler: any WKScriptMessageHandler, contentWorld world: WKContentWorld, name: String
    ) {}
}

@MainActor public protocol WKScriptMessageHandler {
    func userContentController(
        _ userContentController: WKUserContentController, didReceive message: WKScriptMessage)
}

@MainActor open class WKScriptMessage {
    public var body: Any { "" }
    public var frameInfo: WKFrameInfo { WKFrameInfo() }
}

@MainActor open class WKSecurityOrigin {
    public var `protocol`: String { "" }
    public var host: String { "" }
    public var port: Int { 0 }
}

@MainActor open class WKFrameInfo {
    public var isMainFrame: Bool { true }
    public var request: URLRequest { fatalError("not for running") }
    public var securityOrigin: WKSecurityOrigin { WKSecurityOrigin() }
    public weak var webView: WKWebView? { nil }
}

@MainActor open class WKWebView {
    public init(frame: CGRect, configuration: WKWebViewConfiguration) {}
    @discardableResult public func load(_ request: URLRequest) -> WKNavigation? { nil }
    @discardableResult public func reload() -> WKNavigation? { nil }
    public var navigationDelegate: (any WKNavigationDelegate)? {
        get { nil }
        set {}
    }
    public var uiDelegate: (any WKUIDelegate)? {
        get { nil }
        set {}
    }
    public var url: URL? { nil }
    public var configuration: WKWebViewConfiguration { WKWebViewConfiguration() }
    public var customUserAgent: String? {
        get { nil }
        set {}
    }
}

@MainActor open class WKNavigation {}

@MainActor public protocol WKURLSchemeTask: AnyObject {
    var request: URLRequest { get }
    func didReceive(_ response: URLResponse)
    func didReceive(_ data: Data)
    func didFinish()
    func didFailWithError(_ error: any Error)
}

@MainActor public protocol WKURLSchemeHandler {
    func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask)
    func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask)
}

@MainActor open class WKWebViewConfiguration {
    public init() {}
    public var userContentController: WKUserContentController { WKUserContentController() }
    public func setURLSchemeHandler(_ urlSchemeHandler: (any WKURLSchemeHandler)?, forURLScheme urlScheme: String) {}
    public var websiteDataStore: WKWebsiteDataStore {
        get { WKWebsiteDataStore() }
        set {}
    }
}

@MainActor open class WKWebsiteDataStore {
    public var httpCookieStore: WKHTTPCookieStore { WKHTTPCookieStore() }
    public var proxyConfigurations: [ProxyConfiguration] {
        get { [] }
        set {}
    }
}
@MainActor open class WKWindowFeatures {}

public enum WKNavigationType: Int, Sendable {
    case linkActivated, formSubmitted, backForward, reload, formResubmitted, other
}

public enum WKNavigationActionPolicy: Int, Sendable {
    case cancel, allow, download
}

public enum WKNavigationResponsePolicy: Int, Sendable {
    case cancel, allow, download
}

@MainActor open class WKNavigationAction {
    public var request: URLRequest { fatalError("not for running") }
    public var targetFrame: WKFrameInfo? { nil }
    public var navigationType: WKNavigationType { .other }
    public var shouldPerformDownload: Bool { false }
}

@MainActor open class WKNavigationResponse {
    public var response: URLResponse { fatalError("not for running") }
    public var isForMainFrame: Bool { true }
    public var canShowMIMEType: Bool { true }
}

@MainActor public protocol WKNavigationDelegate {
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction
    ) async -> WKNavigationActionPolicy
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse
    ) async -> WKNavigationResponsePolicy
    func webView(
        _ webView: WKWebView, respondTo challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
    func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!)
    func webView(
        _ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!)
    func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error)
    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error)
    func webViewWebContentProcessDidTerminate(_ webView: WKWebView)
}

@MainActor public protocol WKUIDelegate {
    func webView(
        _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration,
        for navigationAction: WKNavigationAction, windowFeatures: WKWindowFeatures
    ) -> WKWebView?
}
