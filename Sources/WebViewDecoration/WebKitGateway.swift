#if canImport(WebKit)
    public import Foundation
    import Network
    import OAuth2
    public import RequestDecoration
    import Security
    public import WebKit

    extension WKWebView {
        /// Sends all requests of the web view through a gateway, WebSockets among them, with the gateway's credentials.
        ///
        /// Call it before the first page is loaded. All web views with the same data store go through the gateway: give
        /// the view a store of its own, such as `WKWebsiteDataStore.nonPersistent()`. The jar keeps the session.
        @available(iOS 17.0, macOS 14.0, *)
        public func use(_ gateway: WebViewGateway) {
            guard let port = NWEndpoint.Port(rawValue: gateway.port) else { return }
            let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(gateway.host), port: port)
            let proxy = ProxyConfiguration(httpCONNECTProxy: endpoint)
            // A secret that is not text is no user's: the gateway answers with 407.
            if let credentials = gateway.credentials, let secret = credentials.secret.exposedText {
                proxy.applyCredential(username: credentials.user, password: secret)
            }
            configuration.websiteDataStore.proxyConfigurations = [proxy]
            if let userAgent = gateway.userAgent { customUserAgent = userAgent }
        }
    }

    extension WebViewGateway {
        /// Answers a web view that asks whether to trust a server: with the gateway's authority besides those of the system.
        ///
        /// No other app and no other web view trusts that authority. The certificate limits it to the hosts whose requests
        /// the gateway decrypts.
        ///
        /// - Returns: The answer for `webView(_:respondTo:)`.
        public func answer(
            to challenge: URLAuthenticationChallenge
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            guard let certificate, let trust = challenge.protectionSpace.serverTrust else {
                return (.performDefaultHandling, nil)
            }
            SecTrustSetAnchorCertificates(trust, [certificate] as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, false)
            guard SecTrustEvaluateWithError(trust, nil) else { return (.performDefaultHandling, nil) }
            return (.useCredential, URLCredential(trust: trust))
        }

        private var certificate: SecCertificate? {
            authorityOctets.flatMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
        }
    }
#endif
