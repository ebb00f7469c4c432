public import CookieModel

/// Decides how a web view that stays signed in handles each ``NavigationEvent``. Pure: the same event in the same state
/// gets the same decision.
public struct NavigationPolicy: Sendable {
    /// Schemes of the app's own: their URLs are events for the app. Lower case, without the colon.
    public var appSchemes: Set<String> = []
    /// Schemes that the system has an app for. Lower case, without the colon.
    public var systemSchemes: Set<String> = NavigationPolicy.defaultSystemSchemes
    /// Statuses of a page that mean that the user is signed out.
    public var signedOutStatuses: Set<Int> = [401]
    /// Pages that a server shows or redirects to if the user is signed out, by origin and path. Paths below them count
    /// too.
    public var signInPages: [RequestURL] = []
    /// How many times within ``reloadPeriod`` the page is reloaded after the web view's process ended.
    public var reloadLimit = 3
    /// The period for ``reloadLimit``, in seconds.
    public var reloadPeriod: Int64 = 60

    /// The schemes of the telephone, mail, messages, maps and stores.
    package static let defaultSystemSchemes: Set<String> = [
        "tel", "mailto", "sms", "facetime", "facetime-audio", "maps", "itms", "itms-apps", "itms-appss",
        "itms-services",
        "geo", "market",
    ]

    /// The schemes that a web view itself can show. The engine decides how a page may use them.
    private static let engineSchemes: Set<String> = ["about", "blob", "data", "javascript"]

    /// WKError.webContentProcessTerminated.
    static let processTerminated = NavigationFailure(phase: .committed, domain: "WKErrorDomain", code: 2)

    /// Creates a policy without app schemes and sign-in pages.
    public init() {}

    /// Decides on an event.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - state: The state of the web view.
    ///   - now: the time.
    package func decide(_ event: NavigationEvent, state: inout NavigationState, now: Timestamp) -> NavigationDecision {
        state.phase = state.phase.after(event)
        switch event {
        case .started: return NavigationDecision([], .ordinary)
        case .action(let action): return decide(action, state: &state)
        case .response(let response): return decide(response, state: &state)
        case .newWindow(let action): return decideNewWindow(action)
        case .redirected, .finished: return NavigationDecision([.takeCookies], .ordinary)
        case .committed:
            state.decorated = nil
            return NavigationDecision([.takeCookies], .ordinary)
        case .failed(let failure): return decide(failure, state: &state)
        case .processTerminated: return decideTermination(state: &state, now: now)
        }
    }

    // MARK: - Actions

    private func decide(_ action: NavigationAction, state: inout NavigationState) -> NavigationDecision {
        let scheme = NavigationPolicy.scheme(of: action.url)
        if appSchemes.contains(scheme) { return NavigationDecision([.cancel, .appEvent(url: action.url)], .appScheme) }
        guard scheme == "http" || scheme == "https" else {
            return decideForeign(scheme, action)
        }
        if action.isDownload { return NavigationDecision([.download], .downloadRequested) }
        // The web view asks for the window next.
        if action.isForNewWindow { return NavigationDecision([.allow], .newWindow) }
        // Loaded again, a form would lose its body; a page that was loaded with all there is would not get more.
        guard action.isMainFrame, action.lacksCookies, action.method.uppercased() == "GET",
            state.decorated != action.url
        else { return NavigationDecision([.allow], .ordinary) }
        state.decorated = action.url
        return NavigationDecision([.cancel, .loadDecorated(url: action.url)], .cookiesMissing)
    }

    private func decideForeign(_ scheme: String, _ action: NavigationAction) -> NavigationDecision {
        if NavigationPolicy.engineSchemes.contains(scheme) { return NavigationDecision([.allow], .ordinary) }
        guard systemSchemes.contains(scheme) else { return NavigationDecision([.cancel], .unknownScheme) }
        // An advertisement in a frame must not be able to start a call.
        guard action.isMainFrame || action.isForNewWindow || action.isUserInitiated else {
            return NavigationDecision([.cancel], .notUserInitiated)
        }
        return NavigationDecision([.cancel, .handToSystem(url: action.url)], .systemScheme)
    }

    private func decideNewWindow(_ action: NavigationAction) -> NavigationDecision {
        let scheme = NavigationPolicy.scheme(of: action.url)
        if appSchemes.contains(scheme) { return NavigationDecision([.appEvent(url: action.url)], .appScheme) }
        if systemSchemes.contains(scheme) {
            return NavigationDecision([.handToSystem(url: action.url)], .systemScheme)
        }
        guard scheme == "http" || scheme == "https" else { return NavigationDecision([], .unknownScheme) }
        return NavigationDecision([.openInPlace(url: action.url)], .newWindow)
    }

    // MARK: - Answers

    private func decide(_ response: NavigationResponse, state: inout NavigationState) -> NavigationDecision {
        // Whatever the status: an answer is an answer, and may have set cookies.
        guard !response.isAttachment else { return NavigationDecision([.download, .takeCookies], .downloadRequested) }
        if response.isMainFrame, meansSignedOut(response) {
            guard !state.hasTriedFallback else {
                return NavigationDecision([.allow, .takeCookies], .fallbackTried)
            }
            state.hasTriedFallback = true
            return NavigationDecision([.allow, .takeCookies, .startLoginFallback(url: response.url)], .signedOut)
        }
        if response.isMainFrame { state.hasTriedFallback = false }
        guard response.canShowMediaType else { return NavigationDecision([.download, .takeCookies], .cannotShow) }
        return NavigationDecision([.allow, .takeCookies], .ordinary)
    }

    private func meansSignedOut(_ response: NavigationResponse) -> Bool {
        if let status = response.status, signedOutStatuses.contains(status) { return true }
        return isSignInPage(response.url)
    }

    private func isSignInPage(_ text: String) -> Bool {
        guard let url = try? RequestURL(text) else { return false }
        return signInPages.contains { URLScope($0).contains(url) }
    }

    // MARK: - Failures

    private func decide(_ failure: NavigationFailure, state: inout NavigationState) -> NavigationDecision {
        // The answer of the page that was cancelled to be loaded again comes late: it must not end the second try.
        guard !failure.isNoFailure else { return NavigationDecision([], .noFailure) }
        state.decorated = nil
        return NavigationDecision(
            [.showFailure(failure)], failure.phase == .provisional ? .provisionalFailure : .committedFailure)
    }

    private func decideTermination(state: inout NavigationState, now: Timestamp) -> NavigationDecision {
        let start = now.advanced(bySeconds: -reloadPeriod)
        state.terminations = state.terminations.filter { $0 > start && $0 <= now } + [now]
        guard state.terminations.count <= reloadLimit else {
            return NavigationDecision(
                [.showFailure(NavigationPolicy.processTerminated)], .reloadLimit)
        }
        return NavigationDecision([.reload], .processTerminated)
    }

    /// The text before the first colon, in lower case; empty if it is not a scheme (RFC 3986, section 3.1).
    static func scheme(of url: String) -> String {
        guard let colon = url.firstIndex(of: ":"), let first = url.utf8.first, ASCII.isLetter(first),
            url[..<colon].utf8.allSatisfy({
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == ASCII.plus || $0 == ASCII.hyphen || $0 == ASCII.dot
            })
        else { return "" }
        return url[..<colon].lowercased()
    }
}

/// The state of one web view for a ``NavigationPolicy``, which prevents loops.
package struct NavigationState: Sendable, Hashable {
    /// The URL that was last loaded decorated, until it is there.
    var decorated: String?
    /// Whether the login fallback was started, and no page has come since that shows someone signed in.
    var hasTriedFallback = false
    /// When the process that shows the page ended, as far back as it counts.
    var terminations: [Timestamp] = []
    /// How far the page has come.
    package internal(set) var phase = NavigationPhase(page: .none)

    /// Creates the state of a web view that has loaded nothing yet.
    package init() {}
}
