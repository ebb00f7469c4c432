import CookieModel
import GatewayModel
import PackageStore
import ResponseStore
import SessionStore
import WebPrimitives

/// What all connections of a gateway share, or those of one of its users.
final class GatewayFrame: Sendable {
    /// Whether the connections are those of one user.
    let isOfUser: Bool
    let settings: GatewaySettings
    let environment: GatewayEnvironment
    /// The jar, and the browser that all requests come from.
    let gate: JarRequestPolicy
    /// Limits the bodies that are kept for requests that may have to be sent once more.
    private let spools: BodySpool.Budget
    /// Signs the user in again; `nil` if nothing does.
    let logins: GatewayLogin?
    /// The stored responses; `nil` for none.
    let cache: PrivateCache?
    /// What is known about the network.
    let network = NetworkWatch()
    let validations = BackgroundValidations()
    /// What answers requests, in the order in which it is asked.
    let sources: [any ResponseSource]
    /// Gets a record of each request. It must not block.
    let observe: @Sendable (GatewayRecord) -> Void

    convenience init(
        jar: CookieJar, settings: GatewaySettings, environment: GatewayEnvironment,
        now: @escaping @Sendable () -> Timestamp, observing observe: @escaping @Sendable (GatewayRecord) -> Void
    ) {
        self.init(
            jar: jar, settings: settings, environment: environment, now: now, observing: observe,
            spools: BodySpool.Budget(limit: environment.limits.keptBodies), eventsPath: nil, isOfUser: false)
    }

    /// The frame of a user. It has the user's name in all records and events.
    convenience init(of user: GatewayUser, in entrance: GatewayFrame) {
        var environment = entrance.environment
        environment.packages = environment.packages?.shelf(of: user.jar)
        let (name, observe) = (user.name, entrance.observe)
        environment.pageEvents = environment.pageEvents.map { receive in
            { @Sendable event in
                var event = event
                event.user = name
                receive(event)
            }
        }
        self.init(
            jar: user.jar, settings: entrance.settings, environment: environment, now: entrance.gate.now,
            observing: { record in
                var record = record
                record.user = name
                observe(record)
            }, spools: entrance.spools, eventsPath: entrance.gate.events?.path, isOfUser: true)
    }

    private init(
        jar: CookieJar, settings: GatewaySettings, environment: GatewayEnvironment,
        now: @escaping @Sendable () -> Timestamp, observing observe: @escaping @Sendable (GatewayRecord) -> Void,
        spools: BodySpool.Budget, eventsPath: String?, isOfUser: Bool
    ) {
        self.isOfUser = isOfUser
        self.settings = settings
        self.environment = environment
        self.observe = observe
        self.spools = spools
        logins =
            settings.isOffline
            ? nil : environment.fallback.map { GatewayLogin(jar, keepingBodiesIn: spools, making: $0) }
        let replay: [any ResponseSource] = environment.replay.map { [$0] } ?? []
        let packages: [any ResponseSource] = environment.packages.map { [PackageSource($0)] } ?? []
        let servers = settings.isOffline ? nil : ServerSource()
        cache = environment.cache.map { PrivateCache($0, of: jar, rules: settings.cachingRules) }
        let last: (any ResponseSource)? =
            if let cache { CacheSource(cache: cache, servers: servers) } else { servers }
        sources = environment.sources + replay + packages + [last].compactMap(\.self)
        let suffixes = jar.policy.publicSuffixes
        let decrypts = environment.authority != nil
        // All requests to the sites that are offered at addresses pass through the gateway.
        let isOffered = !settings.origins.isEmpty
        let profile =
            settings.client == .browser
            ? BrowserKnowledge(
                suffixes, isOffered: isOffered,
                sees: { isOffered || decrypts && settings.intercepts($0, suffixes) },
                seesSite: { isOffered || decrypts && settings.interceptsSite($0) }) : nil
        // Only the witnesses of a browser tell whose page sends a request. Over http, a page may be anyone's.
        let readsEncrypted = decrypts || settings.origins.contains { $0.url.scheme.isCryptographic }
        let events =
            profile != nil && readsEncrypted ? environment.pageEvents.map { PageEvents(at: eventsPath, $0) } : nil
        gate = JarRequestPolicy(jar: jar, mode: settings.cookies, profile: profile, events: events, now: now)
    }

    /// The authority whose certificates the clients of a host get; `nil` if its https requests pass unread.
    func authority(for host: WebHost) -> CertificateAuthority? {
        guard let authority = environment.authority, settings.intercepts(host, gate.jar.policy.publicSuffixes)
        else { return nil }
        return authority
    }
}
