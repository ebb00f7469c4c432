package import CookieModel
@_exported public import GatewayModel
import HTTPMessages
public import NIOCore
public import NIOPosix
import Platform
import ResponseStore
public import SessionStore
import Synchronization
public import WebPrimitives

/// A proxy on this machine that gives requests the cookies of a jar and stores the cookies of their responses.
///
/// It speaks HTTP/1.1 as a proxy, CONNECT and SOCKS 5 on one port. Unencrypted requests, and those to intercepted
/// hosts, are decorated. Other tunnels pass unread.
///
/// ```swift
/// let gateway = Gateway(jar: jar, settings: GatewaySettings(port: 8080))
/// try await gateway.run { addresses in print("listening on \(addresses[0])") }
/// ```
public final class Gateway: Sendable {
    /// What all connections share. If there are users, no request gets the session of its jar.
    private let frame: GatewayFrame
    /// The users, and what the connections of each share; `nil` if any client of this machine may use the gateway.
    private let users: [(user: GatewayUser, frame: GatewayFrame)]?
    private let group: any EventLoopGroup
    /// The ports of the last run.
    private let formerPorts = Mutex<[Int]>([])
    private let connections = Mutex<[ObjectIdentifier: (run: Int, connection: ClientConnection)]>([:])
    /// How often the gateway has been run.
    private let runs = Mutex(0)

    /// Creates a gateway for one jar.
    ///
    /// - Parameters:
    ///   - group: The event loops that it runs on.
    ///   - now: Returns the current time; `nil` for the clock of the jar's database.
    ///   - observe: Receives a record of each request. It must not block.
    public init(
        jar: CookieJar, settings: GatewaySettings, environment: GatewayEnvironment = GatewayEnvironment(),
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        now: (@Sendable () -> Timestamp)? = nil,
        observing observe: @escaping @Sendable (GatewayRecord) -> Void = { _ in }
    ) {
        let now = now ?? { [clock = jar.database.clock] in clock.now }
        frame = GatewayFrame(jar: jar, settings: settings, environment: environment, now: now, observing: observe)
        users = nil
        self.group = group
    }

    /// Creates a gateway for several users, who sign in with the scheme Basic or in SOCKS 5. The requests of each get the
    /// session of the user's jar. Users share no session, no connection to a server and no stored response, unless they
    /// share a jar.
    ///
    /// - Parameters:
    ///   - users: The users. Their jars are of one database.
    ///   - group: The event loops that it runs on.
    ///   - now: Returns the current time; `nil` for the clock of the jars' database.
    ///   - observe: Receives a record of each request. It must not block.
    /// - Throws: ``GatewayError`` if there is no user, if two have the same name, if their jars are of several
    ///   databases, or if the settings have `GatewaySettings.origins`, whose clients cannot sign in. Also if the
    ///   environment has client certificates or a recording that it replays, which belong to no user.
    public init(
        users: [GatewayUser], settings: GatewaySettings, environment: GatewayEnvironment = GatewayEnvironment(),
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        now: (@Sendable () -> Timestamp)? = nil,
        observing observe: @escaping @Sendable (GatewayRecord) -> Void = { _ in }
    ) throws(GatewayError) {
        let jar = try users.firstJar(settings, environment)
        let now = now ?? { [clock = jar.database.clock] in clock.now }
        let frame = GatewayFrame(jar: jar, settings: settings, environment: environment, now: now, observing: observe)
        self.frame = frame
        self.users = users.map { ($0, GatewayFrame(of: $0, in: frame)) }
        self.group = group
    }

    private var jar: CookieJar { frame.gate.jar }
    private var settings: GatewaySettings { frame.settings }
    private var environment: GatewayEnvironment { frame.environment }

    /// The path at which pages of decrypted hosts, or of the https sites that are offered at addresses, send events with a
    /// GET or a POST; `nil` if it takes none.
    public var eventsPath: String? { frame.gate.events?.path }

    /// How many clients are connected.
    package var openConnections: Int { connections.withLock { $0.count } }

    private typealias Listener = NIOAsyncChannel<ByteStream, Never>

    /// What the clients of one event loop get.
    private struct Door: Sendable {
        let servers: UpstreamConnections
        /// The users; `nil` if the clients need no credentials.
        let users: ClientUsers?
    }

    /// Serves clients until the task is cancelled. Then it accepts no more, finishes the requests that are under way, and
    /// returns; tunnels end after five seconds.
    ///
    /// After it has returned, you can run it again, for example in an app that has lost its listening socket while it
    /// was suspended. The gateway still knows the browser, and a port that it chose itself stays the same if nothing
    /// else has taken it.
    ///
    /// - Parameter ready: Called once, with the addresses that it listens on: one, or one for each of
    ///   `GatewaySettings.origins`.
    /// - Throws: ``GatewayError`` if it cannot listen there.
    public func run(_ ready: @Sendable ([GatewayAddress]) async -> Void = { _ in }) async throws {
        try checkOrigins()
        var listeners: [(listener: Listener, address: GatewayAddress)] = []
        let former = formerPorts.withLock { $0 }
        do {
            let places = settings.origins.map { (port: $0.port, url: Optional($0.url)) }
            for (index, place) in (places.isEmpty ? [(settings.port, nil)] : places).enumerated() {
                let former = index < former.count && place.port == 0 ? former[index] : 0
                if former != 0, let listener = try? await listen(on: former, for: place.url) {
                    listeners.append(listener)
                } else {
                    listeners.append(try await listen(on: place.port, for: place.url))
                }
            }
        } catch {
            for (listener, _) in listeners { try? await listener.channel.close() }
            throw error
        }
        let run = runs.withLock { runs in
            runs += 1
            return runs
        }
        let ports = Set(listeners.map(\.address.port))
        formerPorts.withLock { $0 = listeners.map(\.address.port) }
        let isProhibited = { @Sendable (remote: SocketAddress) in
            !WebHost.isReachable(remote.addressOctets)
                || remote.isThisMachine && remote.port.map(ports.contains) == true
        }
        let tls = ServerTLS(frame)
        let name = PassedGateways.newName()
        let connections = { [group, environment] in
            ServerConnections(on: group, of: name, environment, tls: tls, isProhibited: isProhibited)
        }
        let own = connections()
        let members = (users ?? []).map { (user: $0.user, frame: $0.frame, servers: connections()) }
        let doors = Dictionary(
            uniqueKeysWithValues: own.loops.map { loop, servers in
                let places = members.compactMap { member in
                    member.servers.loops[loop].map { servers in
                        let place = ClientUsers.Place(secret: member.user.secret, frame: member.frame, servers: servers)
                        return (member.user.name, place)
                    }
                }
                let users = users.map { _ in ClientUsers(Dictionary(uniqueKeysWithValues: places)) }
                return (loop, Door(servers: servers, users: users))
            })
        for jar in users?.map(\.user.jar) ?? [jar] { await environment.recording?.learn(from: jar) }
        await ready(listeners.map(\.address))
        let sites = zip(settings.origins, listeners).map { origin, listener in
            ReverseOrigins.Site(url: origin.url, port: listener.address.port)
        }
        let failure: (any Error)? = await withTaskCancellationHandler {
            do {
                try await withThrowingDiscardingTaskGroup { group in
                    for (index, listener) in listeners.enumerated() {
                        let origins = sites.isEmpty ? nil : ReverseOrigins(sites: sites, site: sites[index])
                        group.addTask { try await self.serve(listener.listener, origins, doors, run) }
                    }
                }
                return nil
            } catch {
                return error
            }
        } onCancel: {
            Task { await stop(run) }
        }
        let frames = [frame] + members.map(\.frame)
        for frame in frames {
            frame.network.cancelOpenings()
            frame.validations.cancel()
        }
        for servers in [own] + members.map(\.servers) { await servers.close() }
        await environment.recording?.finish()
        for frame in frames { await frame.cache?.maintain(now: frame.gate.now()) }
        if !Task.isCancelled, let failure { throw failure }
    }

    /// Throws if the cookie rules cannot separate the sites at one host.
    private func checkOrigins() throws(GatewayError) {
        guard let first = settings.origins.first else { return }
        let site = SchemefulSite(first.url, jar.policy.publicSuffixes)
        if let other = settings.origins.first(where: { SchemefulSite($0.url, jar.policy.publicSuffixes) != site }) {
            throw GatewayError(
                code: .originNotOfSite, other.url.origin, "a browser would take its pages for pages of \(site)")
        }
        guard settings.cookies != .pass, settings.cookies == .strip || settings.origins.count == 1 else {
            throw GatewayError(
                code: .cookiesNotSeparate, first.url.origin,
                settings.cookies == .pass
                    ? "programs at other ports of this machine would get its HttpOnly cookies"
                    : "it would get the cookies of the other origins")
        }
    }

    /// Listens on a port.
    ///
    /// - Parameter url: The site that is served there; `nil` for a proxy.
    private func listen(
        on port: Int, for url: RequestURL?
    ) async throws(GatewayError) -> (listener: Listener, address: GatewayAddress) {
        let listener: Listener
        let clock = environment.clock
        do {
            listener = try await ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(AcceptPause())
                    }
                }
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                // An idle connection keeps its buffer, which grows with a body.
                .childChannelOption(
                    .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 1 << 16)
                )
                .bind(host: settings.host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture { try ByteStream.add(to: channel, clock: clock) }
                }
        } catch {
            throw GatewayError(error, listeningOn: GatewayAddress(host: settings.host, port: port).description)
        }
        guard let address = listener.channel.localAddress, address.isLoopback, let port = address.port else {
            try? await listener.channel.close()
            throw GatewayError(
                code: .addressNotLocal, GatewayAddress(host: settings.host, port: port).description,
                "anyone on the network could use the session")
        }
        return (listener, GatewayAddress(host: settings.host, port: port, origin: url?.origin))
    }

    /// Serves the clients of one listener.
    private func serve(
        _ listener: Listener, _ origins: ReverseOrigins?, _ doors: [ObjectIdentifier: Door], _ run: Int
    ) async throws {
        let address = listener.channel.localAddress?.description ?? settings.host
        let failure: (any Error)? = await withDiscardingTaskGroup { group in
            do {
                try await listener.executeThenClose { clients in
                    for try await client in clients { accept(client, origins, doors, run, in: &group) }
                }
                return nil
            } catch {
                return error
            }
        }
        if !Task.isCancelled {
            // Clients of the other listeners would keep these running.
            Task { await stop(run) }
            throw GatewayError(
                code: .listenerFailed, address, failure.map { "\($0)" } ?? "the socket was closed")
        }
    }

    private func accept(
        _ client: ByteStream, _ origins: ReverseOrigins?, _ doors: [ObjectIdentifier: Door], _ run: Int,
        in group: inout DiscardingTaskGroup
    ) {
        let limit = environment.limits.connections
        guard connections.withLock({ $0.count < limit }),
            let door = doors[ObjectIdentifier(client.channel.eventLoop)]
        else { return client.channel.close(promise: nil) }
        let connection = ClientConnection(client, frame, servers: door.servers, origins: origins, users: door.users)
        let id = ObjectIdentifier(connection)
        connections.withLock { $0[id] = (run, connection) }
        group.addTask(executorPreference: door.servers.taskExecutor) {
            await connection.run()
            self.connections.withLock { _ = $0.removeValue(forKey: id) }
        }
    }

    /// Ends the idle connections of a run now, and after a while the remaining ones. Another run may have begun by
    /// then.
    private func stop(_ run: Int) async {
        func remaining() -> [ClientConnection] {
            connections.withLock { $0.values.filter { $0.run == run }.map(\.connection) }
        }
        await withDiscardingTaskGroup { group in
            // Concurrently, because closing waits for a client that reads slowly.
            for connection in remaining() { group.addTask { await connection.stop() } }
            try? await Task.sleep(nanoseconds: UInt64(environment.limits.stop.nanoseconds))
            for connection in remaining() { await connection.abort() }
        }
    }
}

/// What a user should change about the requests of a client.
package enum GatewayHint: Sendable, Hashable {
    /// A program, which is no browser, uses a gateway for browsers: its requests get no cookies, and the cookies of their
    /// responses are not stored. The name is the program's own.
    case isOfProgram(String)
    /// The client has ended the connection after it saw the gateway's certificate.
    case authorityNotTrusted

    /// The stable code.
    package var code: String {
        switch self {
        case .isOfProgram: "client-tool"
        case .authorityNotTrusted: "authority-not-trusted"
        }
    }

    /// The hint as a response field for programs (RFC 9209).
    var proxyStatus: Octets? {
        guard case .isOfProgram(let name) = self else { return nil }
        return Octets(
            "crumb; details=\"\(name) is no browser and gets no cookies: run the gateway with --client tool\"")
    }
}

/// A cookie that a response tried to set, without its value.
package struct RejectedCookie: Sendable, Hashable {
    /// Its name; empty if the line could not be read.
    package let name: Octets
    /// The rules that reject it.
    package let reasons: ReasonSet<RejectionReason>
}

/// The changes that a response has made to the cookies in the jar.
struct CookieChanges: Sendable {
    /// How many rejected cookies of a response are reported.
    static let rejectionLimit = 10

    /// The names of the cookies that have changed in the jar.
    var names: [Octets] = []
    /// The cookies that were rejected.
    var rejected: [RejectedCookie] = []
}

/// A request that has passed through a gateway. It has no values of cookies or fields.
public struct GatewayRecord: Sendable {
    /// When its head arrived.
    public let time: Timestamp
    /// The method.
    public internal(set) var method = ""
    /// The URL in canonical form, without its query and the secrets in its path; host and port for a tunnel.
    public internal(set) var url = "" {
        didSet { url = SecretRedaction.url(url) }
    }
    /// The status of the response; `nil` if the client got none.
    public internal(set) var status: Int?
    /// Whether the jar's cookies and fields were added; `false` for tunnels and for requests of browsers.
    public internal(set) var isDecorated = true
    /// The assumed decision of the browser on its cookies; `nil` for programs.
    package internal(set) var verdict: EngineVerdict?
    /// The names of the jar's cookies that were added, in their order.
    public internal(set) var cookiesSent: [Octets] = []
    /// The names of the cookies that the response has changed in the jar.
    public internal(set) var cookiesStored: [Octets] = []
    /// The cookies that the response tried to set and the rules rejected, the first ten.
    package internal(set) var cookiesRejected: [RejectedCookie] = []
    /// The names of the cookies that the jar has deleted because a script has deleted them in the browser.
    public internal(set) var cookiesDeleted: [Octets] = []
    /// Whether the response came from a recording.
    package internal(set) var isReplayed = false
    /// What the cache has done, as in the Cache-Status field (RFC 9211); `nil` if it takes no part.
    public internal(set) var cacheStatus: String?
    /// Whether the user was signed in again. The request was sent once more unless there is a ``loginFailure``.
    public internal(set) var isSignedInAgain = false
    /// The reason why the client gets a response that says "not signed in"; `nil` for other responses.
    public internal(set) var loginFailure: LoginFailure?
    /// The type of the failure (RFC 9209, section 2.3); `nil` if the server has answered.
    public internal(set) var failure: String?
    /// The host of the request; `nil` if the gateway refuses the request before the host is known.
    package internal(set) var host: WebHost?
    /// Whether it is a tunnel whose octets pass unread.
    package internal(set) var isUnread = false
    /// What the user should change; `nil` for nothing.
    package internal(set) var hint: GatewayHint?
    /// The name of the user who has sent the request; `nil` if the gateway has no users, or refuses the credentials.
    public internal(set) var user: String?

    init(time: Timestamp) {
        self.time = time
    }

    mutating func note(_ changes: CookieChanges) {
        cookiesStored += changes.names
        cookiesRejected += changes.rejected
    }

    mutating func fail(_ failure: GatewayFailure) {
        self.failure = failure.kind.rawValue
        status = failure.status
    }
}
