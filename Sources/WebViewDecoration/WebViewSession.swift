@_exported public import CookieModel
@_exported public import HTTPTypes
@_exported public import OAuth2
@_exported public import RequestDecoration
@_exported public import SessionStore

/// Synchronizes one web view and one jar: the jar's session is put into the web view before a page is loaded, and
/// changes in the web view are stored in the jar.
///
/// ```swift
/// let session = WebViewSession(
///     jar: jar, store: store, scripts: scripts, host: app, captureHandler: MessageHandlerName("crumb"))
/// await session.load(try RequestURL("https://www.shop.example/cart"))
/// ```
///
/// It does not depend on WebKit: store, scripts and app are behind protocols. The jar is read and written on the threads
/// of its store, so the main actor does not wait for it.
@MainActor
public final class WebViewSession {
    /// The jar.
    package let jar: CookieJar
    /// The policy for navigations.
    public var navigationPolicy: NavigationPolicy
    /// The handler that receives reports about pages' changes to cookies; `nil` if there is none.
    package let captureHandler: MessageHandlerName?
    /// The gateway that all requests of the web view go through; `nil` if there is none. With a gateway, which handles
    /// all cookies, the native store does not change, and no script is installed.
    public var gateway: WebViewGateway?
    /// The script by which pages load resources through the web view's scheme handler; `nil` if they do not. It is not
    /// installed if there is a ``gateway``.
    public var resources: ResourceScript?

    private let store: any NativeCookieStore
    private let scripts: any UserScriptHost
    private weak var host: (any WebViewHost)?
    private let clock: @Sendable () -> Timestamp
    private var navigationState = NavigationState()
    /// How far the page has come.
    public var navigationPhase: NavigationPhase { navigationState.phase }
    /// Both stores as they were when they were last brought together; in memory, so that the native session that it is
    /// about has always gone on.
    private var base: StoreDiff.Base?
    private var journalPosition: Int64
    private var nativeWrites: [NativeCookie.ID: Timestamp] = [:]

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - jar: the jar.
    ///   - store: the web view's cookie store.
    ///   - scripts: the host of the web view's scripts.
    ///   - host: the app; not retained.
    ///   - navigationPolicy: the policy for navigations.
    ///   - captureHandler: the handler that receives reports about pages' changes to cookies; the app registers it.
    ///   - clock: returns the current time; `nil` for the clock of the jar's database.
    public init(
        jar: CookieJar, store: any NativeCookieStore, scripts: any UserScriptHost, host: any WebViewHost,
        navigationPolicy: NavigationPolicy = NavigationPolicy(), captureHandler: MessageHandlerName? = nil,
        clock: (@Sendable () -> Timestamp)? = nil
    ) {
        self.jar = jar
        self.store = store
        self.scripts = scripts
        self.host = host
        self.navigationPolicy = navigationPolicy
        self.captureHandler = captureHandler
        self.clock = clock ?? { [clock = jar.database.clock] in clock.now }
        journalPosition = 0
    }

    // MARK: - Stores

    /// Synchronizes the jar and the native store: each side's changes are applied to the other.
    ///
    /// - Returns: the actions; empty if there is a ``gateway``.
    @discardableResult
    public func synchronize() async throws(SessionStoreError) -> [StoreDiff.Action] {
        guard gateway == nil else { return [] }
        let comparison = comparison(with: await store.nativeCookies())
        let (diff, held, position) = try await comparison.apply()
        let native = comparison.native
        nativeWrites = nativeWrites.filter { comparison.nativeWrites[$0.key] != $0.value }
        var base = Dictionary(native.map { ($0.id, $0) }) { _, last in last }
        var puts: [NativeCookie] = []
        for action in diff.actions {
            switch action.change {
            case .putIntoNative(let cookie):
                await store.putNativeCookie(cookie)
                puts.append(cookie)
            case .removeFromNative(let cookie):
                await store.removeNativeCookie(cookie)
                base[cookie.id] = nil
            case .takeIntoJar, .removeFromJar: break
            }
        }
        if !puts.isEmpty {
            // A store may cap a lifetime. Anything else that is new in it came from a page meanwhile, and is for the next
            // comparison to find.
            let stored = Dictionary(await store.nativeCookies().map { ($0.id, $0) }) { _, last in last }
            for cookie in puts {
                let now = stored[cookie.id]
                base[cookie.id] = now?.value == cookie.value ? now : cookie
            }
        }
        journalPosition = position
        self.base = StoreDiff.Base(jar: held, native: Array(base.values))
        return diff.actions
    }

    private func comparison(with native: [NativeCookie]) -> StoreComparison {
        StoreComparison(
            jar: jar, native: native, base: base, nativeWrites: nativeWrites, journalPosition: journalPosition,
            now: clock())
    }

    // MARK: - Pages

    /// Makes the web view ready for a navigation: both stores together, the scripts installed.
    ///
    /// - Returns: the plan, of which only the loading is left to do.
    @discardableResult
    public func prepare(_ navigation: RequestContext) async throws(SessionStoreError) -> WebViewPlan {
        if let gateway { return WebViewPlan(for: navigation.url, through: gateway) }
        try await synchronize()
        let native = await store.nativeCookies()
        let plan = try await jar.database.readingToEnd { [jar, now = clock()] () throws(SessionStoreError) in
            try jar.webViewPlan(for: navigation, native: native, now: now)
        }
        var installed: [DocumentStartScript] = []
        for step in plan.steps {
            switch step {
            case .putIntoStore(let cookies):
                for cookie in cookies { await store.putNativeCookie(cookie) }
            case .installScript(let script):
                installed.append(DocumentStartScript(source: script.source, world: .isolated))
            case .useGateway, .useSchemes, .load, .verify: break
            }
        }
        // Only the page's own world has the functions that the page's scripts call.
        if let captureHandler {
            installed.append(DocumentStartScript(source: CaptureScript(handler: captureHandler).source, world: .page))
        }
        if let resources { installed.append(DocumentStartScript(source: resources.source, world: .page)) }
        scripts.replaceUserScripts(installed)
        return plan
    }

    /// Loads a page with the jar's session.
    public func load(_ url: RequestURL) async {
        do throws(SessionStoreError) {
            let plan = try await prepare(RequestContext(url: url))
            host?.load(url, cookie: plan.cookieString)
        } catch {
            host?.sessionFailed(error)
            host?.load(url, cookie: nil)
        }
    }

    // MARK: - Messages

    /// Receives a message of a `CaptureScript`.
    ///
    /// - Parameters:
    ///   - message: the message's body.
    ///   - frame: the frame that it came from, as the native side knows it.
    /// - Returns: the decisions of the jar; empty if the message contains no cookie.
    /// - Throws: `ScriptMessageError` if the message is not one of the script's, `SessionStoreError` if the jar
    ///   cannot be written.
    @discardableResult
    public func receive(message: String, from frame: ScriptFrame) async throws -> [StorageDecision] {
        let message = try CaptureMessage(message)
        let now = clock()
        var decisions: [StorageDecision] = []
        if let response = message.received(in: frame) {
            decisions = try await jar.receive(response, at: now)
            for decision in decisions {
                if let cookie = decision.cookie, let id = NativeCookie.ID(cookie.id) { nativeWrites[id] = now }
            }
        }
        if message.asksForStore { try await synchronize() }
        return decisions
    }

    // MARK: - Navigations

    /// Decides on an event. The web view that asks gets the decision's answer; then ``perform(_:)`` does the rest.
    public func decide(_ event: NavigationEvent) async -> NavigationDecision {
        var event = event
        if case .action(var action) = event, action.isMainFrame, let url = try? RequestURL(action.url) {
            action.lacksCookies = await lacksCookies(for: url, method: action.method)
            event = .action(action)
        }
        return navigationPolicy.decide(event, state: &navigationState, now: clock())
    }

    /// Performs the steps of a decision, except for the answer.
    public func perform(_ decision: NavigationDecision) async {
        for step in decision.steps {
            switch step {
            case .allow, .cancel, .download: break
            case .loadDecorated(let url), .openInPlace(let url):
                if let url = try? RequestURL(url) { await load(url) }
            case .takeCookies:
                do throws(SessionStoreError) {
                    try await synchronize()
                } catch {
                    host?.sessionFailed(error)
                }
            case .startLoginFallback(let url): host?.startLoginFallback(for: url)
            case .handToSystem(let url): host?.handToSystem(url)
            case .appEvent(let url): host?.receive(appEvent: url)
            case .reload: host?.reload()
            case .showFailure(let failure): host?.show(failure)
            }
        }
    }

    /// Whether the native store lacks, or has an older one of, a cookie that the jar would send with a navigation.
    private func lacksCookies(for url: RequestURL, method: String) async -> Bool {
        guard gateway == nil else { return false }
        let comparison = comparison(with: await store.nativeCookies())
        var navigation = RequestContext(url: url)
        navigation.method = method
        do throws(SessionStoreError) {
            return try await comparison.lacksCookies(for: navigation)
        } catch {
            host?.sessionFailed(error)
            return false
        }
    }
}

/// The app around a web view: it performs the decisions of a ``WebViewSession``.
@MainActor
public protocol WebViewHost: AnyObject {
    /// Loads a page in the web view.
    ///
    /// - Parameters:
    ///   - url: the page.
    ///   - cookie: the value of the request's Cookie field; `nil` if the native store sends it all.
    func load(_ url: RequestURL, cookie: Octets?)
    /// Loads the page again that was there.
    func reload()
    /// Hands a URL to the system: a telephone number, a mail address, a store's page.
    func handToSystem(_ url: String)
    /// A URL of one of the app's own schemes.
    func receive(appEvent url: String)
    /// The user is no longer signed in: signs in again, and reloads the page.
    func startLoginFallback(for url: String)
    /// The page could not be loaded.
    func show(_ failure: NavigationFailure)
    /// The jar could not be read or written; the navigation goes on without.
    func sessionFailed(_ error: SessionStoreError)
}
