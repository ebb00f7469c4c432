import CookieModel
import GatewayModel
import HTTPTypes
import Hummingbird
import Logging
import SessionOperations
import SessionStore

extension SessionAPI {
    /// A client of a gateway has the session of its jar, so starting one requires the right to change the jar and to
    /// see its secrets. A gateway of a jar outside the grant is reported as not running.
    var gatewayRoutes: [ServiceRoute] {
        [
            ServiceRoute(.listGateways) { _, context in
                let gateways = gateways.all.filter { $0.isCovered(by: context.caller.grant) }
                return .json(GatewayList(gateways: gateways.map(\.report)))
            },
            ServiceRoute(.showGateway) { _, context in
                .json(try gateway(.read, context).report)
            },
            ServiceRoute(.startGateway, use: startGateway),
            ServiceRoute(.stopGateway) { _, context in
                await (try gateway(.write, context)).stop()
                return Response(status: .noContent)
            },
            ServiceRoute(.listGatewayRequests) {
                _, context in
                let position = try context.query.number("after", 0...Int64.max) ?? 0
                let limit = Int(try context.query.number("limit", 1...1000) ?? 1000)
                let page = try gateway(.read, context).entries(after: position, limit: limit)
                return .json(
                    GatewayRequestList(
                        requests: page.entries.compactMap {
                            if case .request(let request) = $0 { request } else { nil }
                        },
                        position: page.position, hasGap: page.gap != nil, hasMore: page.hasMore))
            },
            ServiceRoute(.followGateway) { request, context in
                let gateway = try gateway(.read, context)
                // Without a position, only events from now on are sent.
                let position = try EventFollower.position(in: request, context.query) ?? gateway.position
                return GatewayFollowing(
                    gateway: gateway, gateways: gateways, following: following, caller: context.caller,
                    tokens: database.serviceTokens, now: now
                ).follower { entry in
                    switch entry {
                    case .request(let request): EventFollower.event("request", request, id: entry.position)
                    case .event(let event): EventFollower.event("page", event, id: entry.position)
                    }
                }.response(after: position)
            },
        ]
    }

    private func gateway(_ verb: AccessVerb, _ context: ServiceRequestContext) throws -> HostedGateway {
        let name = try context.pathParameter("name")
        guard let gateway = gateways.gateway(name), gateway.isCovered(by: context.caller.grant) else {
            throw ServiceFailure(.gatewayNotFound, "\(name): no gateway of this name runs")
        }
        for jar in gateway.jars { try context.require(verb, jar: jar) }
        return gateway
    }

    @Sendable private func startGateway(
        _ request: Request, _ context: ServiceRequestContext
    ) async throws -> Response {
        let asked = try await request.document(GatewayDocument.self, in: context)
        let name = try context.pathParameter("name")
        try SessionStoreError.check(name, of: "gateway")
        let names = try asked.jarNames()
        for name in names {
            try context.require(.write, jar: name)
            try context.require(.secrets, jar: name)
        }
        let jars = try names.map { try jar(named: $0) }
        guard let first = jars.first else { throw GatewayDocument.nobody }
        var job = GatewayJob(jar: first, clock: now, fallback: { [tokens] in tokens.access.fallback($0) }) {
            [logger = context.logger] reason in
            logger.warning("A gateway has reported a failure", metadata: ["name": "\(name)", "reason": "\(reason)"])
        }
        job.settings = try asked.settings()
        job.users = try zip(asked.users ?? [], jars).map { user, jar in try user.user(of: jar) }
        job.cacheSize = asked.cache.map { Int64($0.size.value) }
        job.usesPackages = asked.packages ?? true
        if !job.settings.intercepted.isEmpty {
            job.authority = try await blocking { [hosts = job.settings.intercepted, now = now()] in
                try StoredAuthority.forInterception(of: hosts, in: database, member: "intercept", now: now)
            }
        }
        job.connectionLimit = gateways.limits.connections
        job.keptBodies = gateways.limits.bodyBytes
        let (caller, tokens, now) = (context.caller, database.serviceTokens, now)
        let (gateway, isNew) = try await gateways.start(
            name, as: asked, job, metrics: context.metrics, checkingEvery: following.interval * 4
        ) {
            guard try caller.isStillAdmitted(by: tokens, now: now()) else { throw ServiceFailure.unauthenticated }
            try await database.reading { for jar in jars { _ = try jar.latestChange() } }
        }
        for jar in gateway.jars { context.audit(SecretAccess(.gateway, jar: jar, names: [name])) }
        return .json(gateway.report, status: isNew ? .created : .ok)
    }
}

/// Sends the events of a gateway to one follower.
struct GatewayFollowing: Sendable {
    let gateway: HostedGateway
    let gateways: GatewayRegistry
    let following: ChangeFollowing
    /// The follower, which is served as long as its access token is valid.
    let caller: Caller
    let tokens: ServiceTokenStore
    let now: @Sendable () -> Timestamp

    /// - Parameter event: An entry as an event.
    func follower(_ event: @escaping @Sendable (GatewayLog.Entry) -> [UInt8]) -> EventFollower {
        EventFollower(subject: gateway.name, following: following, signal: gateways.signal) { position in
            guard try caller.isStillAdmitted(by: tokens, now: now()) else { return nil }
            let page = gateway.entries(after: position, limit: 1000)
            var events: [UInt8] = []
            if let gap = page.gap { events += EventFollower.event("missed", MissedChanges(position: gap), id: gap) }
            for entry in page.entries { events += event(entry) }
            // The events up to the gateway's end are sent. Then the stream ends, too.
            guard !events.isEmpty || gateways.gateway(gateway.name) === gateway else { return nil }
            return EventFollower.Page(events: events, position: page.position)
        }
    }
}

extension GatewayDocument {
    /// The most hosts of each list, and sites.
    private static let countLimit = 100

    fileprivate static let nobody = OperationError.bodyInvalid("users: name at least one user")

    /// The jar of the document, or the jars of its users in their order.
    fileprivate func jarNames() throws(OperationError) -> [String] {
        guard (jar == nil) != (users == nil) else {
            throw .bodyInvalid("jar: name either a jar or 'users', each with a jar")
        }
        let users = users ?? []
        guard users.count <= GatewayDocument.countLimit else {
            throw .bodyInvalid("users: name at most \(GatewayDocument.countLimit)")
        }
        guard Set(users.map(\.name)).count == users.count else { throw .bodyInvalid("users: two have the same name") }
        guard users.isEmpty || upstreams == nil else {
            throw .bodyInvalid("users: clients of 'upstreams' cannot sign in; leave one of both out")
        }
        return jar.map { [$0] } ?? users.map(\.jar)
    }

    /// The settings of the document, which are checked.
    fileprivate func settings() throws(OperationError) -> GatewaySettings {
        var settings = GatewaySettings(port: port?.value ?? 0)
        settings.client = try GatewaySettings.Client.named(client, member: "client") ?? .browser
        settings.intercepted = try GatewayDocument.patterns(intercept, member: "intercept")
        settings.bypassed = try GatewayDocument.patterns(bypass, member: "bypass")
        settings.legacyTLS = try GatewayDocument.patterns(legacyTLS, member: "legacyTLS")
        let upstreams = upstreams ?? []
        guard upstreams.count <= GatewayDocument.countLimit else {
            throw .bodyInvalid("upstreams: name at most \(GatewayDocument.countLimit)")
        }
        guard upstreams.isEmpty || settings.intercepted.isEmpty else {
            throw .bodyInvalid(
                "intercept: this is for a proxy, and 'upstreams' reads the requests anyway; leave it out")
        }
        guard upstreams.isEmpty || port == nil else {
            throw .bodyInvalid("port: this is for a proxy; give each of 'upstreams' its port")
        }
        for upstream in upstreams {
            let url = try RequestURL(upstream.url, member: "upstreams")
            guard url.path == "/", url.query.isEmpty else {
                throw .bodyInvalid("upstreams: write an origin such as https://shop.example")
            }
            settings.origins.append(GatewaySettings.Origin(url, port: upstream.port?.value ?? 0))
        }
        settings.cookies =
            try GatewaySettings.CookieMode.named(cookies, member: "cookies") ?? (upstreams.isEmpty ? .mirror : .strip)
        settings.cachingRules = try .init(lines: cache?.rules, member: "cache.rules")
        settings.isOffline = cache?.offline ?? false
        return settings
    }

    private static func patterns(_ hosts: [String]?, member: String) throws(OperationError) -> [HostPattern] {
        guard hosts?.count ?? 0 <= countLimit else { throw .bodyInvalid("\(member): name at most \(countLimit) hosts") }
        var patterns: [HostPattern] = []
        for host in hosts ?? [] {
            do {
                patterns.append(try HostPattern(host))
            } catch {
                throw .bodyInvalid("\(member) '\(host.prefix(100))': \(error)")
            }
        }
        return patterns
    }
}

extension GatewayUserDocument {
    /// The user with the jar, which are checked.
    fileprivate func user(of jar: CookieJar) throws -> GatewayUser {
        guard let hash = GatewaySecretHash(secretHash) else {
            throw OperationError.bodyInvalid(
                "users.secretHash: write the 64 hexadecimal digits that 'crumb gateway user add' has stored")
        }
        return try GatewayUser(name: name, jar: jar, secret: hash)
    }
}
