#if canImport(WebKit)
    public import RequestDecoration
    public import WebKit

    /// Installs scripts in a `WKUserContentController`, beside those of the app.
    @MainActor
    public final class WebKitScriptHost: UserScriptHost {
        /// The world that scripts run in which a page must not see.
        static let isolatedWorld = WKContentWorld.world(name: "crumb")

        private let controller: WKUserContentController
        private var installed: [WKUserScript] = []

        /// Installs into that controller.
        public init(_ controller: WKUserContentController) {
            self.controller = controller
        }

        /// Installs scripts in the place of those that were installed through here before.
        public func replaceUserScripts(_ scripts: [DocumentStartScript]) {
            // A controller can only forget all of its scripts at once.
            let others = controller.userScripts.filter { script in !installed.contains { $0 === script } }
            installed = scripts.map { script in
                WKUserScript(
                    source: script.source, injectionTime: .atDocumentStart, forMainFrameOnly: false,
                    in: script.world == .isolated ? WebKitScriptHost.isolatedWorld : .page)
            }
            controller.removeAllUserScripts()
            for script in installed + others { controller.addUserScript(script) }
        }

        /// Lets a session receive reports about pages' changes to cookies.
        ///
        /// The controller keeps the receiver alive; `removeScriptMessageHandler(forName:contentWorld:)` ends that.
        public func addReceiver(_ receiver: WebKitMessageReceiver, name: MessageHandlerName) {
            controller.add(receiver, contentWorld: .page, name: name.description)
        }
    }
#endif

#if canImport(WebKit)
    public import CookieModel
    public import Foundation
    public import RequestDecoration
    public import WebKit

    /// Receives the messages of a ``CaptureScript``, and passes them to a ``WebViewSession``.
    @MainActor
    public final class WebKitMessageReceiver: NSObject, WKScriptMessageHandler {
        private weak var session: WebViewSession?
        private let failure: @MainActor (any Error) -> Void

        /// Creates a receiver for a session, which it does not retain.
        ///
        /// - Parameter failure: called for messages that are not the script's, and if the jar cannot be written.
        public init(_ session: WebViewSession, failure: @escaping @MainActor (any Error) -> Void = { _ in }) {
            self.session = session
            self.failure = failure
        }

        /// Takes a message in.
        public func userContentController(
            _ userContentController: WKUserContentController, didReceive message: WKScriptMessage
        ) {
            guard let text = message.body as? String, let frame = ScriptFrame(message.frameInfo) else { return }
            Task { @MainActor [weak session, failure] in
                do {
                    try await session?.receive(message: text, from: frame)
                } catch {
                    failure(error)
                }
            }
        }
    }

    extension ScriptFrame {
        /// Creates the frame from WebKit's; `nil` if cookies cannot belong to its origin.
        @MainActor
        init?(_ frame: WKFrameInfo) {
            guard let url = RequestURL(frame.securityOrigin) else { return nil }
            let page = frame.isMainFrame ? nil : frame.webView?.url.flatMap { try? RequestURL($0.absoluteString) }
            // For a frame without a page, it is not known which requests are cross-site.
            guard frame.isMainFrame || page != nil else { return nil }
            self.init(url: url, topLevel: page)
        }
    }

    extension RequestURL {
        @MainActor
        init?(_ origin: WKSecurityOrigin) {
            let host = origin.host.contains(":") && !origin.host.hasPrefix("[") ? "[\(origin.host)]" : origin.host
            // Port 0 is the scheme's own.
            let port = origin.port == 0 ? "" : ":\(origin.port)"
            guard let url = try? RequestURL("\(origin.protocol)://\(host)\(port)/") else { return nil }
            self = url
        }
    }
#endif
