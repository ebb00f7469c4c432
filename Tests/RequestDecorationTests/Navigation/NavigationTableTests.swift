import CookieModel
import Foundation
import RequestDecoration
import Testing

@Suite("The table of callbacks in docs/web-views.md")
struct NavigationTableTests {
    @Test("The table lists each callback once, with its event and its possible steps")
    func table() throws {
        var rows: [String: (event: String, steps: String)] = [:]
        for line in try Documentation.text("docs/web-views.md").split(separator: "\n")
        where line.hasPrefix("| `webView") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 3, "\(line)")
            #expect(rows[cells[0]] == nil, "\(line)")
            rows[cells[0]] = (cells[1], cells[2])
        }
        for callback in WebViewCallback.allCases {
            let row = try #require(rows["`\(callback.rawValue)`"], "\(callback.rawValue)")
            #expect(row.event == (callback.event?.rawValue ?? "—"), "\(callback.rawValue)")
            let steps = NavigationDecision.Kind.allCases.filter(callback.steps.contains).map(\.rawValue)
            #expect(row.steps == (steps.isEmpty ? "—" : steps.joined(separator: ", ")), "\(callback.rawValue)")
        }
        #expect(rows.count == WebViewCallback.allCases.count)
    }

    @Test("The table lists every step of a decision for its callback, and every listed step occurs")
    func reached() throws {
        var policy = NavigationPolicy()
        policy.appSchemes = ["shopapp"]
        policy.signInPages = [try RequestURL("https://www.example.com/login")]
        var reached: [NavigationEvent.Kind: Set<NavigationDecision.Kind>] = [:]
        for row in NavigationPolicyTests.rows {
            var state = NavigationState()
            for _ in 0..<5 {
                let decision = policy.decide(row.event, state: &state, now: Page.now)
                reached[row.event.kind, default: []].formUnion(decision.steps.map(\.kind))
            }
        }
        for callback in WebViewCallback.allCases {
            guard let event = callback.event else { continue }
            #expect(reached[event] == callback.steps, "\(callback)")
        }
        #expect(Set(WebViewCallback.allCases.compactMap(\.event)) == Set(NavigationEvent.Kind.allCases))
    }

    @Test("Every reason of a navigation decision occurs")
    func reasons() throws {
        var reasons = Set(NavigationPolicyTests.rows.map(\.reason))
        // These two need an event before them; other tests have them.
        reasons.formUnion([.fallbackTried, .reloadLimit])
        #expect(reasons == Set(NavigationDecision.Reason.allCases))
    }
}

/// A question or a report from WebKit to a web view's delegates, and the kind of ``NavigationEvent`` that it becomes:
/// the Objective-C selectors of `WKNavigationDelegate` and `WKUIDelegate`.
private enum WebViewCallback: String, Sendable, CaseIterable {
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

    /// The kind of event; `nil` for callbacks that the policy leaves to the engine or the app.
    var event: NavigationEvent.Kind? {
        switch self {
        case .decidePolicyForNavigationAction: .action
        case .decidePolicyForNavigationResponse: .response
        case .didStartProvisionalNavigation: .started
        case .didReceiveServerRedirect: .redirected
        case .didFailProvisionalNavigation, .didFail: .failed
        case .didCommit: .committed
        case .didFinish: .finished
        case .processDidTerminate: .processTerminated
        case .createWebView: .newWindow
        case .didReceiveChallenge, .actionDidBecomeDownload, .responseDidBecomeDownload, .didClose: nil
        }
    }

    /// The kinds of steps that a decision on it can have.
    var steps: Set<NavigationDecision.Kind> {
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
