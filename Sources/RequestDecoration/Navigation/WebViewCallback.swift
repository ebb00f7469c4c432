/// What WebKit asks or tells a web view's delegates, and the kind of ``NavigationEvent`` that it becomes: the
/// Objective-C selectors of `WKNavigationDelegate` and `WKUIDelegate`.
public enum WebViewCallback: String, Sendable, CaseIterable {
    /// Asks whether to go somewhere.
    case decidePolicyForNavigationAction = "webView:decidePolicyForNavigationAction:decisionHandler:"
    /// Asks whether to show an answer.
    case decidePolicyForNavigationResponse = "webView:decidePolicyForNavigationResponse:decisionHandler:"
    /// A navigation has begun.
    case didStartProvisionalNavigation = "webView:didStartProvisionalNavigation:"
    /// The server redirected it.
    case didReceiveServerRedirect = "webView:didReceiveServerRedirectForProvisionalNavigation:"
    /// It failed before anything was shown.
    case didFailProvisionalNavigation = "webView:didFailProvisionalNavigation:withError:"
    /// The page begins to arrive.
    case didCommit = "webView:didCommitNavigation:"
    /// The page has been loaded.
    case didFinish = "webView:didFinishNavigation:"
    /// It failed while the page was arriving.
    case didFail = "webView:didFailNavigation:withError:"
    /// The server, or its certificate, asks for credentials or trust.
    case didReceiveChallenge = "webView:didReceiveAuthenticationChallenge:completionHandler:"
    /// The process that shows the page has ended.
    case processDidTerminate = "webViewWebContentProcessDidTerminate:"
    /// A navigation became a download.
    case actionDidBecomeDownload = "webView:navigationAction:didBecomeDownload:"
    /// An answer became a download.
    case responseDidBecomeDownload = "webView:navigationResponse:didBecomeDownload:"
    /// A page asks for a window.
    case createWebView = "webView:createWebViewWithConfiguration:forNavigationAction:windowFeatures:"
    /// A page closed its window.
    case didClose = "webViewDidClose:"

    /// The kind of event; `nil` for what the policy leaves to the engine or the app.
    public var event: NavigationEvent.Kind? {
        switch self {
        case .decidePolicyForNavigationAction: .action
        case .decidePolicyForNavigationResponse: .response
        case .didReceiveServerRedirect: .redirected
        case .didFailProvisionalNavigation, .didFail: .failed
        case .didCommit: .committed
        case .didFinish: .finished
        case .processDidTerminate: .processTerminated
        case .createWebView: .newWindow
        case .didStartProvisionalNavigation, .didReceiveChallenge, .actionDidBecomeDownload,
            .responseDidBecomeDownload, .didClose:
            nil
        }
    }

    /// The kinds of steps that a decision on it can have.
    public var steps: Set<NavigationDecision.Kind> {
        switch self {
        case .decidePolicyForNavigationAction:
            [.allow, .cancel, .download, .loadDecorated, .handToSystem, .appEvent]
        case .decidePolicyForNavigationResponse: [.allow, .download, .takeCookies, .startLoginFallback]
        case .didReceiveServerRedirect, .didCommit, .didFinish: [.takeCookies]
        case .didFailProvisionalNavigation, .didFail: [.showFailure]
        case .processDidTerminate: [.reload, .showFailure]
        case .createWebView: [.openInPlace, .handToSystem, .appEvent]
        case .didStartProvisionalNavigation, .didReceiveChallenge, .actionDidBecomeDownload,
            .responseDidBecomeDownload, .didClose:
            []
        }
    }
}
