/// The decision on a ``NavigationEvent``.
public struct NavigationDecision: Sendable, Hashable {
    /// A step that the app takes.
    public enum Step: Sendable, Hashable {
        /// Allow the navigation.
        case allow
        /// Cancel the navigation.
        case cancel
        /// Turn the navigation into a download.
        case download
        /// Load this URL with a ``WebViewPlan``.
        case loadDecorated(url: String)
        /// Load this URL in the current web view.
        case openInPlace(url: String)
        /// Store the cookies of the native store in the jar.
        case takeCookies
        /// Start the login fallback: the user is signed out.
        case startLoginFallback(url: String)
        /// Hand this URL to the system.
        case handToSystem(url: String)
        /// Tell the app of this URL, whose scheme it has registered.
        case appEvent(url: String)
        /// Load the page again.
        case reload
        /// Tell the user that the page could not be loaded.
        case showFailure(NavigationFailure)

        /// The kind of step, as docs/web-views.md writes it.
        public var kind: Kind {
            switch self {
            case .allow: .allow
            case .cancel: .cancel
            case .download: .download
            case .loadDecorated: .loadDecorated
            case .openInPlace: .openInPlace
            case .takeCookies: .takeCookies
            case .startLoginFallback: .startLoginFallback
            case .handToSystem: .handToSystem
            case .appEvent: .appEvent
            case .reload: .reload
            case .showFailure: .showFailure
            }
        }
    }

    /// A kind of step.
    public enum Kind: String, Sendable, CaseIterable {
        /// ``Step/allow``.
        case allow
        /// ``Step/cancel``.
        case cancel
        /// ``Step/download``.
        case download
        /// ``Step/loadDecorated(url:)``.
        case loadDecorated = "load-decorated"
        /// ``Step/openInPlace(url:)``.
        case openInPlace = "open-in-place"
        /// ``Step/takeCookies``.
        case takeCookies = "take-cookies"
        /// ``Step/startLoginFallback(url:)``.
        case startLoginFallback = "start-login-fallback"
        /// ``Step/handToSystem(url:)``.
        case handToSystem = "hand-to-system"
        /// ``Step/appEvent(url:)``.
        case appEvent = "app-event"
        /// ``Step/reload``.
        case reload
        /// ``Step/showFailure(_:)``.
        case showFailure = "show-failure"
    }

    /// The reason for a decision.
    public enum Reason: String, Sendable, CaseIterable {
        /// An ordinary navigation, or an ordinary answer.
        case ordinary
        /// The native store lacks cookies of the jar.
        case cookiesMissing = "cookies-missing"
        /// The scheme is one that the app has registered.
        case appScheme = "app-scheme"
        /// The scheme is the system's.
        case systemScheme = "system-scheme"
        /// A frame tries to leave the web view without a user action.
        case notUserInitiated = "not-user-initiated"
        /// The scheme is unknown.
        case unknownScheme = "unknown-scheme"
        /// A page wants a new window.
        case newWindow = "new-window"
        /// The link or the answer asks for a download.
        case downloadRequested = "download-requested"
        /// The web view cannot show such content.
        case cannotShow = "cannot-show"
        /// The response means that the user is signed out.
        case signedOut = "signed-out"
        /// The login fallback was already tried for this page.
        case fallbackTried = "fallback-tried"
        /// The process that shows the page has ended.
        case processTerminated = "process-terminated"
        /// The process ends repeatedly.
        case reloadLimit = "reload-limit"
        /// Nothing failed: the navigation was taken over or cancelled.
        case noFailure = "no-failure"
        /// The navigation failed before anything was shown.
        case provisionalFailure = "provisional-failure"
        /// The navigation failed while the page was arriving.
        case committedFailure = "committed-failure"
    }

    /// The steps to take, in order. The answer to a pending question of the web view comes first.
    public let steps: [Step]
    /// The reason for the steps.
    public let reason: Reason

    init(_ steps: [Step], _ reason: Reason) {
        self.steps = steps
        self.reason = reason
    }

    /// The answer to a web view that asks: ``Kind/allow``, ``Kind/cancel`` or ``Kind/download``; `nil` for an event that
    /// asks nothing.
    public var answer: Kind? {
        guard let kind = steps.first?.kind, kind == .allow || kind == .cancel || kind == .download else { return nil }
        return kind
    }
}
