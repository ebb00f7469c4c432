#if canImport(WebKit)
    public import RequestDecoration
    public import WebKit

    /// Installs scripts in a `WKUserContentController`, beside those of the app.
    @MainActor
    public final class WebKitScriptHost: UserScriptHost {
        /// The world that scripts run in which a page must not see.
        public static let isolatedWorld = WKContentWorld.world(name: "crumb")

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

        /// Lets a session hear of what pages do to cookies.
        ///
        /// The controller keeps the receiver alive; `removeScriptMessageHandler(forName:contentWorld:)` ends that.
        public func addReceiver(_ receiver: WebKitMessageReceiver, name: MessageHandlerName) {
            controller.add(receiver, contentWorld: .page, name: name.description)
        }
    }
#endif
