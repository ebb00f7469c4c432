#if canImport(WebKit)
    public import Foundation
    public import RequestDecoration
    public import WebKit

    // WebKit's own signatures have them.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Passes WebKit's calls to a ``WebViewSession`` and returns its decisions.
    ///
    /// An app with its own delegate forwards the calls that docs/web-views.md lists.
    @MainActor
    public final class WebKitNavigationDelegate: NSObject, WKNavigationDelegate, WKUIDelegate {
        private weak var session: WebViewSession?

        /// Creates a delegate for a session, without a strong reference to it.
        public init(_ session: WebViewSession) {
            self.session = session
        }

        /// Asks whether to go somewhere.
        public func webView(
            _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction
        ) async -> WKNavigationActionPolicy {
            switch await answer(.action(NavigationAction(navigationAction))) {
            case .cancel: .cancel
            case .download: .download
            default: .allow
            }
        }

        /// Asks whether to show an answer.
        public func webView(
            _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse
        ) async -> WKNavigationResponsePolicy {
            switch await answer(.response(NavigationResponse(navigationResponse))) {
            case .cancel: .cancel
            case .download: .download
            default: .allow
            }
        }

        /// Asks whether to trust a server.
        public func webView(
            _ webView: WKWebView, respondTo challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            session?.gateway?.answer(to: challenge) ?? (.performDefaultHandling, nil)
        }

        /// A navigation has begun.
        public func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!) {
            tell(.started(url: webView.url?.absoluteString ?? ""))
        }

        /// The server redirected the navigation.
        public func webView(
            _ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!
        ) {
            tell(.redirected(url: webView.url?.absoluteString ?? ""))
        }

        /// The navigation failed before anything was shown.
        public func webView(
            _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
        ) {
            tell(.failed(NavigationFailure(.provisional, error)))
        }

        /// The page begins to arrive.
        public func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) {
            tell(.committed(url: webView.url?.absoluteString ?? ""))
        }

        /// The page has been loaded.
        public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {
            tell(.finished(url: webView.url?.absoluteString ?? ""))
        }

        /// The navigation failed while the page was arriving.
        public func webView(
            _ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error
        ) {
            tell(.failed(NavigationFailure(.committed, error)))
        }

        /// The process that shows the page has ended.
        public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
            tell(.processTerminated)
        }

        /// A page requests a window: its content is loaded into the existing web view.
        public func webView(
            _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration,
            for navigationAction: WKNavigationAction, windowFeatures: WKWindowFeatures
        ) -> WKWebView? {
            tell(.newWindow(NavigationAction(navigationAction)))
            return nil
        }

        /// Decides, and does the rest once WebKit has its answer.
        private func answer(_ event: NavigationEvent) async -> NavigationDecision.Kind? {
            guard let session else { return nil }
            let decision = await session.decide(event)
            Task { @MainActor in await session.perform(decision) }
            return decision.answer
        }

        private func tell(_ event: NavigationEvent) {
            Task { @MainActor [weak session] in
                guard let session else { return }
                await session.perform(session.decide(event))
            }
        }
    }

    extension NavigationAction {
        /// The navigation as WebKit describes it.
        @MainActor
        init(_ action: WKNavigationAction) {
            self.init(
                url: action.request.url?.absoluteString ?? "", method: action.request.httpMethod ?? "GET",
                isMainFrame: action.targetFrame?.isMainFrame ?? false)
            isForNewWindow = action.targetFrame == nil
            isDownload = action.shouldPerformDownload
            isUserInitiated =
                switch action.navigationType {
                case .linkActivated, .formSubmitted, .formResubmitted: true
                default: false
                }
        }
    }

    extension NavigationResponse {
        /// The answer as WebKit describes it.
        @MainActor
        init(_ response: WKNavigationResponse) {
            let answer = response.response as? HTTPURLResponse
            self.init(
                url: response.response.url?.absoluteString ?? "", status: answer?.statusCode,
                mediaType: response.response.mimeType, isMainFrame: response.isForMainFrame)
            canShowMediaType = response.canShowMIMEType
            isAttachment =
                answer?.value(forHTTPHeaderField: "Content-Disposition")?.lowercased().hasPrefix("attachment") ?? false
        }
    }

    extension NavigationFailure {
        /// The failure as Foundation describes it.
        init(_ phase: Phase, _ error: any Error) {
            let error = error as NSError
            let url = error.userInfo[NSURLErrorFailingURLStringErrorKey] as? String
            self.init(phase: phase, domain: error.domain, code: error.code, url: url)
        }
    }
#endif
