package import NIOCore
import NIOPosix
public import NIOSSL
public import OAuth2
package import PackageStore
public import RequestDecoration
public import ResponseStore
public import WebPrimitives

/// What a gateway needs from the program around it: trust, and everything that is no setting of a person.
public struct GatewayEnvironment: Sendable {
    /// A proxy that the gateway reaches servers through.
    public struct UpstreamProxy: Sendable, Hashable {
        /// Its name, or its address without brackets.
        public var host: String
        /// Its port.
        public var port: Int
        /// User name and password, separated by a colon; `nil` for none.
        public var credentials: Secret?

        /// Creates the address of a proxy.
        public init(host: String, port: Int, credentials: Secret? = nil) {
            self.host = host
            self.port = port
            self.credentials = credentials
        }

        /// Hashes host and port.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(host)
            hasher.combine(port)
        }
    }

    /// How long the gateway waits in each phase of a request.
    package struct Limits: Sendable {
        /// For the first octet of the next request on a connection.
        package var idle = TimeAmount.minutes(5)
        /// For the rest of a head, and for a whole SOCKS handshake. Also for the first octet of a client that has to sign in
        /// as a user.
        package var head = TimeAmount.seconds(30)
        /// For the first octet in a tunnel to a host whose requests are read. After that, a connection is opened,
        /// because the server may be the first to send.
        package var hesitation = TimeAmount.seconds(1)
        /// For a connection to a server.
        package var connect = TimeAmount.seconds(30)
        /// For the head of a response.
        package var response = TimeAmount.minutes(5)
        /// For the head of a response whose client has stopped sending. Mostly, such a client has disconnected.
        package var ended = TimeAmount.seconds(30)
        /// For the next octets of a body, and of a tunnel.
        package var body = TimeAmount.minutes(10)
        /// For requests and tunnels in progress when the gateway stops.
        package var stop = TimeAmount.seconds(5)
        /// How many clients can be connected at the same time.
        package var connections = 10_000
        /// How many requests a client may send at the same time on one HTTP/2 connection. With cancelled ones whose
        /// work has not ended, the limit is twice as high.
        package var streams = 100
        /// How many interim responses (1xx) may precede a response.
        package var interimResponses = 10_000
        /// How many idle connections to servers are kept for further requests.
        package var idleServers = 64
        /// How many octets of requests' bodies are kept at the same time, for requests that may have to be sent once more.
        package var keptBodies = 1 << 30

        /// The usual limits.
        package init() {}
    }

    /// The time-outs and counts.
    package var limits = Limits()
    /// The proxy for requests to a URL; `nil` if they go there directly.
    public var proxy: @Sendable (RequestURL) -> UpstreamProxy? = { _ in nil }

    /// Creates the fallback that signs the user in again if a response says "not signed in", from the login rules of
    /// the jar; `nil` for no logins.
    public var fallback: (@Sendable ([LoginRule]) -> LoginFallback)?

    /// The authority that clients trust for the hosts of `GatewaySettings.intercepted`; `nil` if nothing is decrypted.
    public var authority: CertificateAuthority?
    /// How servers of intercepted hosts are verified.
    public var tls = TLSConfiguration.makeClientConfiguration()
    /// The certificates that the gateway shows to servers that ask for one, by their hosts.
    package var clientCertificates: [WebHost: ClientCertificate] = [:]

    /// The recording of requests and responses; `nil` for none.
    package var recording: TrafficRecording?
    /// The recording whose responses answer requests; `nil` if servers do.
    package var replay: TrafficReplay?
    /// The store of responses that answer requests by `GatewaySettings.cachingRules`; `nil` for none.
    public var cache: ResponseCache?
    /// The offline packages that answer requests before the cache and servers; `nil` for none.
    package var packages: PackageShelf?
    /// Gets the events that pages send to ``Gateway/eventsPath``; `nil` if they send none. It must not block.
    public var pageEvents: (@Sendable (PageEvent) -> Void)?

    /// The sources of responses that are asked before ``replay`` and servers, in this order.
    var sources: [any ResponseSource] = []
    /// The clock that measures ``limits``.
    var clock: any GatewayClock = MachineClock()
    /// Whether the other side of a connection has confirmed what was sent, or anything within the given time.
    var isAcknowledged: @Sendable (any Channel, TimeAmount) async -> Bool = Acknowledgement.hasArrived
    /// Creates a resolver for the addresses of servers, on an event loop.
    typealias ResolverMaker = @Sendable (any EventLoop) -> any Resolver & Sendable
    /// The resolver for the addresses of servers; `nil` for the system's.
    var resolver: ResolverMaker?

    /// Creates the usual environment: nothing is recorded, nobody is signed in again, and servers are reached directly.
    public init() {}
}
