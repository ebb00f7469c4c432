public import NIOCore
import NIOPosix
public import NIOSSL
public import OAuth2
public import RequestDecoration
public import WebPrimitives

/// The settings of a gateway for the requests that pass through it.
public struct GatewaySettings: Sendable {
    /// Which of the cookies that a server sets pass on to the client. The jar stores all of them.
    public enum CookieMode: String, Sendable, CaseIterable {
        /// Those that scripts may read. Values of HttpOnly cookies stay in the jar.
        case mirror
        /// None.
        case strip
        /// All, HttpOnly cookies included.
        case pass
    }

    /// The kind of client that sends the requests.
    public enum Client: String, Sendable, CaseIterable {
        /// One profile of a browser, or one web view. It decides which cookies a request may carry.
        case browser
        /// Programs, for which the jar alone decides.
        case tool
    }

    /// A proxy that the gateway reaches servers through.
    public struct UpstreamProxy: Sendable, Hashable {
        /// Its name, or its address without brackets.
        public var host: String
        /// Its port.
        public var port: Int
        /// User name and password with a colon in between; `nil` for none.
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
    public struct Limits: Sendable {
        /// For the first octet of the next request on a connection.
        public var idle = TimeAmount.minutes(5)
        /// For the rest of a head, from one read to the next.
        public var head = TimeAmount.seconds(30)
        /// For the first octet in a tunnel to a host whose requests are read. Then a connection is opened: the server may be
        /// the first to send.
        public var hesitation = TimeAmount.seconds(1)
        /// For a connection to a server.
        public var connect = TimeAmount.seconds(30)
        /// For the head of a response.
        public var response = TimeAmount.minutes(5)
        /// For the head of a response whose client sends no more, and has mostly gone.
        public var ended = TimeAmount.seconds(30)
        /// For the next octets of a body, and of a tunnel.
        public var body = TimeAmount.minutes(10)
        /// For requests and tunnels that are under way when the gateway stops.
        public var stop = TimeAmount.seconds(5)
        /// How many clients are connected at the same time.
        public var connections = 10_000
        /// How many requests a client may send at the same time on one HTTP/2 connection. With cancelled ones whose work
        /// has not ended, they may be twice as many.
        public var streams = 100
        /// How many interim responses (1xx) precede a response.
        public var interimResponses = 10_000
        /// How many idle connections to servers are kept for further requests.
        public var idleServers = 64
        /// How many octets of requests' bodies are kept at the same time, for requests that may have to be sent once more.
        public var keptBodies = 1 << 30

        /// The usual limits.
        public init() {}
    }

    /// The address to listen on: this machine only.
    public var host: String
    /// The port; 0 for a free one.
    public var port: Int
    /// Which cookies pass on to the client.
    public var cookies = CookieMode.mirror
    /// The sites that are offered at addresses of their own, for clients that can have no proxy; empty for a proxy.
    ///
    /// They are origins of one site, such as `https://shop.example` and `https://api.shop.example`. The gateway listens
    /// once for each, and ``port`` does not count. Cookies of all of them meet at one host of the client's, so only
    /// ``CookieMode/strip`` keeps them apart.
    public var origins: [ReverseOrigin] = []
    /// The client that sends the requests.
    public var client = Client.browser
    /// The time-outs and counts.
    public var limits = Limits()
    /// The proxy for requests to a URL; `nil` if they go there directly.
    public var proxy: @Sendable (RequestURL) -> UpstreamProxy? = { _ in nil }

    /// Makes what signs the user in again where a response says "not signed in", from the login rules of the jar; `nil` if
    /// nothing does.
    public var fallback: (@Sendable ([LoginRule]) -> LoginFallback)?

    /// The hosts whose https requests are read; `nil` for none. All others pass through blind tunnels.
    public var interception: Interception?
    /// How servers of intercepted hosts are verified.
    public var tls = TLSConfiguration.makeClientConfiguration()
    /// Whether TLS 1.0 and 1.1 are spoken with the server of a host, and with clients that reach it. The least version is
    /// 1.2 otherwise.
    public var legacyTLS: @Sendable (WebHost) -> Bool = { _ in false }
    /// The certificates that the gateway shows to servers that ask for one, by their hosts.
    public var clientCertificates: [WebHost: ClientCertificate] = [:]

    /// Where requests and responses are recorded; `nil` if they are not.
    public var recording: TrafficRecording?
    /// The recording whose responses answer requests; `nil` if servers do.
    public var replay: TrafficReplay?
    /// Whether no server is connected to. A request that ``replay`` does not answer gets status 504.
    public var isOffline = false
    /// Gets the events that pages send to ``Gateway/eventsPath``; `nil` if they send none. It must not block.
    public var pageEvents: (@Sendable (PageEvent) -> Void)?

    /// What answers requests before ``replay`` and servers do, in this order.
    var sources: [any ResponseSource] = []
    /// The clock that ``limits`` are measured with.
    var clock: any GatewayClock = MachineClock()
    /// Makes what finds the addresses of servers, on an event loop.
    typealias ResolverMaker = @Sendable (any EventLoop) -> any Resolver & Sendable
    /// How the addresses of servers are found; `nil` for the system's way.
    var resolver: ResolverMaker?

    /// Which hosts' https requests a gateway decrypts.
    public struct Interception: Sendable {
        /// The authority that clients trust for these hosts.
        public var authority: CertificateAuthority
        /// Whether a host is one of them.
        public var contains: @Sendable (WebHost) -> Bool
        /// Whether a registrable domain and all hosts below it are among them. If so, its hosts share what the gateway
        /// learns of a browser; otherwise each host begins on its own.
        public var containsSite: @Sendable (WebHost) -> Bool

        /// Creates an interception.
        ///
        /// - Parameter containsSite: Must not say yes if ``contains`` says no for any host of the site: its server would
        ///   get the gateway's own cookies.
        public init(
            authority: CertificateAuthority, contains: @escaping @Sendable (WebHost) -> Bool,
            containsSite: @escaping @Sendable (WebHost) -> Bool = { _ in false }
        ) {
            self.authority = authority
            self.contains = contains
            self.containsSite = containsSite
        }
    }

    /// A site that a gateway offers at an address of its own.
    public struct ReverseOrigin: Sendable {
        /// A URL of the site. Only its origin counts.
        public var url: RequestURL
        /// The port of the address; 0 for a free one.
        public var port: Int

        /// Creates an offer.
        public init(_ url: RequestURL, port: Int = 0) {
            self.url = url
            self.port = port
        }
    }

    /// Creates settings for a listener.
    public init(host: String = "127.0.0.1", port: Int = 0) {
        self.host = host
        self.port = port
    }
}
