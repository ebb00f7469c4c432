public import CookieModel
public import OAuth2
public import SessionStore

/// The steps that let a navigation of a web view carry a jar's session from its very first request.
///
/// A value: the program that controls the web view performs ``steps``.
public struct WebViewPlan: Sendable {
    /// One thing to do, before the next one is begun.
    public enum Step: Sendable {
        /// Send all requests of the web view through this gateway.
        case useGateway(WebViewGateway)
        /// Put these into the native store, and wait until they are there.
        case putIntoStore([NativeCookie])
        /// Install this script at document start, in all frames, in the place of the last plan's.
        case installScript(InjectionScript)
        /// Register a scheme handler for the names of the script's schemes before the view is made, and install the script
        /// at document start, in all frames, in the page's own content world.
        case useSchemes(ResourceScript)
        /// Load the page. The field value is for the request's Cookie field; `nil` if the native store sends it all.
        case load(RequestURL, cookie: Octets?)
        /// See that the native store still has these.
        case verify([NativeCookie])
    }

    /// A cookie that the native store cannot hold.
    package struct Omission: Sendable {
        /// The cookie.
        package let cookie: Cookie
        /// The reason why the native store cannot hold it.
        package let obstacle: NativeCookie.Obstacle
    }

    /// The page.
    package let page: RequestURL
    /// The gateway that all requests of the web view go through; `nil` if there is none.
    package let gateway: WebViewGateway?
    /// The cookies that the native store lacks, or has otherwise.
    package let nativeCookies: [NativeCookie]
    /// The cookies that the native store cannot hold. The script and the Cookie field carry as many of them as they
    /// can.
    package let omissions: [Omission]
    /// The script for the page, and for frames of its origin: cookies and items of `localStorage`.
    package let script: InjectionScript
    /// The Cookie field value to send if the native store cannot hold all cookies of the request. It reaches the first
    /// request only: a redirect is sent with the store's cookies.
    package let cookieString: Octets?
    /// The cookies of the request that the native store should have once the page has been loaded.
    package let expectedCookies: [NativeCookie]
    /// The script by which pages load resources through a scheme handler, from the jar's cache; `nil` if they do not.
    public private(set) var resources: ResourceScript?

    /// Creates a plan for a page through a gateway, which sees to the cookies of every request, and has the jar's cache. The
    /// native store needs no cookie.
    public init(for page: RequestURL, through gateway: WebViewGateway) {
        self.page = page
        self.gateway = gateway
        nativeCookies = []
        omissions = []
        script = InjectionScript([])
        cookieString = nil
        expectedCookies = []
    }

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - navigation: the navigation: the URL, and the page or user that requests it.
    ///   - cookies: all cookies of the jar with their values: requests of the page go to other hosts too.
    ///   - storage: the items of `localStorage` of the page's origin.
    ///   - native: the native store's cookies; `nil` if the web view has no writable store.
    ///   - capabilities: the capabilities of the native store.
    ///   - policy: the rules of the jar.
    ///   - verification: the way in which the script reports.
    ///   - now: the current time.
    package init(
        for navigation: RequestContext, cookies: [Cookie], storage: [WebStorageItem] = [], native: [NativeCookie]?,
        capabilities: NativeStoreCapabilities = .webKit, policy: CookiePolicy,
        verification: InjectionScript.Verification = .none, now: Timestamp
    ) {
        page = navigation.url
        gateway = nil
        let site = navigation.url.host.registrableDomain(policy.publicSuffixes)
        let ofSite = cookies.filter { $0.domain.registrableDomain(policy.publicSuffixes) == site }
        let request = policy.retrieval(from: ofSite, for: navigation, now: now, opening: \.value)
        let access = navigation.scriptWriting
        script = InjectionScript(
            [InjectionScript.Page(policy.retrieval(from: ofSite, for: access, now: now, opening: \.value), in: access)],
            storage: storage.filter { $0.origin == navigation.url.origin }, verification: verification)
        let known = Dictionary((native ?? []).map { ($0.id, $0) }) { _, last in last }
        var puts: [NativeCookie] = []
        var held: [Cookie.ID: NativeCookie] = [:]
        var omissions: [Omission] = []
        for cookie in cookies where native != nil && !cookie.isExpired(at: now) {
            do throws(NativeCookie.Obstacle) {
                let converted = try NativeCookie(cookie, capabilities: capabilities)
                held[cookie.id] = converted
                if known[converted.id]?.holds(converted) != true { puts.append(converted) }
            } catch {
                omissions.append(Omission(cookie: cookie, obstacle: error))
            }
        }
        nativeCookies = puts
        self.omissions = omissions
        expectedCookies = request.included.compactMap { held[$0.id] }
        let isCovered = request.included.allSatisfy { held[$0.id] != nil }
        cookieString = isCovered ? nil : request.cookieString
    }

    /// Returns the plan with resources from the jar's cache, by a scheme handler. A plan through a gateway stays as it is:
    /// the gateway answers every request from the cache, the first one included.
    ///
    /// - Parameters:
    ///   - scheme: The schemes of the web view.
    ///   - others: The pages of other origins that the web view may show; the plan's own page is always among them.
    ///   - kinds: What is loaded through the handler.
    public func usingSchemes(
        _ scheme: ResourceScheme, others: [RequestURL] = [], kinds: ResourceScript.Kinds = .standard
    ) -> WebViewPlan {
        guard gateway == nil else { return self }
        var plan = self
        plan.resources = ResourceScript(scheme, for: [page] + others, kinds: kinds)
        return plan
    }

    /// The steps to take, in order.
    public var steps: [Step] {
        var steps = [gateway.map(Step.useGateway), resources.map(Step.useSchemes)].compactMap(\.self)
        if !nativeCookies.isEmpty { steps.append(.putIntoStore(nativeCookies)) }
        if !script.source.isEmpty { steps.append(.installScript(script)) }
        steps.append(.load(page, cookie: cookieString))
        if !expectedCookies.isEmpty { steps.append(.verify(expectedCookies)) }
        return steps
    }

    /// Returns the cookies of ``Step/verify(_:)`` that the native store lacks, or has in another form. This is a hint,
    /// not an error: the server's response may have changed or deleted them.
    ///
    /// - Parameter native: the native store's cookies after the page has been loaded.
    package func missingCookies(in native: [NativeCookie]) -> [NativeCookie] {
        let known = Dictionary(native.map { ($0.id, $0) }) { _, last in last }
        return expectedCookies.filter { known[$0.id]?.holds($0) != true }
    }
}

extension CookieJar {
    /// Returns the plan for a navigation of a web view, from all cookies of this jar.
    ///
    /// - Parameters:
    ///   - navigation: the navigation: the URL, and the page or user that requests it.
    ///   - native: the native store's cookies; `nil` if the web view has no writable store.
    ///   - capabilities: the capabilities of the native store.
    ///   - verification: the way in which the script reports.
    ///   - now: the current time; `nil` for that of the jar's database.
    package func webViewPlan(
        for navigation: RequestContext, native: [NativeCookie]?, capabilities: NativeStoreCapabilities = .webKit,
        verification: InjectionScript.Verification = .none, now: Timestamp? = nil
    ) throws(SessionStoreError) -> WebViewPlan {
        WebViewPlan(
            for: navigation, cookies: try cookies().readable, storage: try webStorage(of: [navigation.url]).readable,
            native: native, capabilities: capabilities, policy: policy, verification: verification,
            now: now ?? database.clock.now)
    }

    /// Returns the plan for a navigation of a web view, without blocking the caller's thread.
    ///
    /// - Parameter time: the current time; `nil` for that of the jar's database.
    public func webViewPlan(
        for navigation: RequestContext, native: [NativeCookie]?, capabilities: NativeStoreCapabilities = .webKit,
        verification: InjectionScript.Verification = .none, at time: Timestamp? = nil
    ) async throws -> WebViewPlan {
        let time = time ?? database.clock.now
        return try await database.reading {
            try self.webViewPlan(
                for: navigation, native: native, capabilities: capabilities, verification: verification, now: time)
        }
    }
}

extension WebViewPlan: ValueHiding {
    /// The page without its query, and the numbers of cookies.
    public var description: String {
        "WebViewPlan for \(page.withoutQuery) (cookies to put: \(nativeCookies.count), omissions: \(omissions.count))"
    }
}

extension WebViewPlan.Step: ValueHiding {
    /// The step without values.
    public var description: String {
        switch self {
        case .useGateway(let gateway):
            "use gateway \(gateway.proxyURL)" + (gateway.credentials.map { " as user \($0.user)" } ?? "")
        case .putIntoStore(let cookies): "put into store: \(cookies)"
        case .installScript(let script): "install \(script)"
        case .useSchemes: "use schemes"
        case .load(let page, cookie: nil): "load \(page.withoutQuery)"
        case .load(let page, cookie: _?): "load \(page.withoutQuery) (Cookie field hidden)"
        case .verify(let cookies): "verify: \(cookies)"
        }
    }
}

/// A gateway as a web view uses it: the proxy for all its requests.
///
/// Every request of the web view reaches it: the first document, frames, Ajax, WebSockets, and posted forms with their
/// bodies.
public struct WebViewGateway: Sendable, Hashable {
    /// The name and the secret of a user, with which a web view signs in to a gateway with several users.
    ///
    /// They are the credentials for the proxy. Printing them does not show the secret.
    public struct Credentials: Sendable, Hashable {
        /// The name of the user.
        public let user: String
        /// The user's secret, from `GatewaySecretHash.newSecret(using:)` or `crumb gateway user add`.
        public let secret: Secret

        /// Creates the credentials of a user.
        public init(user: String, secret: Secret) {
            self.user = user
            self.secret = secret
        }

        /// Hashes the name only: a secret has no hash value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(user)
        }
    }

    /// The host that it listens on: an address of this machine.
    package let host: String
    /// The port.
    package let port: UInt16
    /// The certificate in PEM that the web view trusts for the hosts whose requests the gateway decrypts; `nil` if it
    /// decrypts none.
    package let authority: String?
    /// The User-Agent that the session was made with, for scripts that read it; `nil` for the web view's own.
    package let userAgent: String?
    /// The credentials of the user that the web view signs in as; `nil` for a gateway without users.
    public var credentials: Credentials?

    /// Creates the address of a gateway.
    public init(host: String = "127.0.0.1", port: UInt16, authority: String? = nil, userAgent: String? = nil) {
        self.host = host
        self.port = port
        self.authority = authority
        self.userAgent = userAgent
    }

    /// The certificate in DER; `nil` if there is none, or the text is not a certificate in PEM.
    package var authorityOctets: [UInt8]? { authority.flatMap { PEMText.contents(of: "CERTIFICATE", in: $0) } }

    /// `http://HOST:PORT`, as WebKitGTK and browsers take it. The ``credentials`` are not part of it.
    public var proxyURL: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
