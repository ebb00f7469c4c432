public import CookieModel
public import HTTPCaching
package import PublicSuffix

/// The settings of a gateway that the person who runs it chooses.
///
/// Commands and the service make them, and the gateway follows them. They need no network, so a program that only passes
/// them on stays small.
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

    /// A site that a gateway serves at a local address.
    public struct Origin: Sendable {
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

    /// The address to listen on: this machine only.
    public var host: String
    /// The port; 0 for a free one.
    public var port: Int
    /// The client that sends the requests.
    public var client = Client.browser
    /// Which cookies pass on to the client.
    public var cookies = CookieMode.mirror
    /// The sites that are served at local addresses, for clients that cannot use a proxy; empty for a proxy.
    ///
    /// They are origins of one site, such as `https://shop.example` and `https://api.shop.example`. The gateway listens
    /// once for each, and ``port`` does not count. Cookies of all of them meet at one host of the client's, so only
    /// ``CookieMode/strip`` keeps them apart.
    public var origins: [Origin] = []
    /// The hosts whose https requests are decrypted. All others pass through blind tunnels.
    ///
    /// If a site and its subdomains are named, the hosts of the site share what the gateway learns of a browser.
    /// Otherwise each host begins on its own.
    public var intercepted: [HostPattern] = []
    /// The sites whose https requests are decrypted, too: registrable domains, each with all hosts below it.
    package var interceptedSites: Set<Octets> = []
    /// The hosts whose https requests pass unread all the same.
    public var bypassed: [HostPattern] = []
    /// The hosts with which TLS 1.0 and 1.1 are spoken, too, also by clients that reach them. The least version is 1.2
    /// otherwise.
    public var legacyTLS: [HostPattern] = []
    /// The rules by which stored responses answer requests, if there is a store.
    public var cachingRules = CachingRules.standard
    /// Whether no server is connected to. A request that neither a recording nor a stored response answers gets status
    /// 504.
    public var isOffline = false

    /// Creates settings for a listener.
    public init(host: String = "127.0.0.1", port: Int = 0) {
        self.host = host
        self.port = port
    }
}

extension GatewaySettings {
    /// The hosts that an authority for the decrypted ones is for.
    package var authorityHosts: [WebHost] { intercepted.map(\.host) + interceptedSites.map { WebHost(stored: $0) } }

    /// Whether https requests of a host are decrypted.
    package func intercepts(_ host: WebHost, _ suffixes: PublicSuffixList) -> Bool {
        !bypassed.contains(host)
            && (intercepted.contains(host) || interceptedSites.contains(host.registrableDomain(suffixes)))
    }

    /// Whether https requests of a registrable domain and of every host below it are decrypted.
    package func interceptsSite(_ site: WebHost) -> Bool {
        let isNamed = intercepted.contains(site) && intercepted.contains { $0.matchesAll(below: site) }
        return (isNamed || interceptedSites.contains(site.octets)) && !bypassed.contains { $0.matchesAny(of: site) }
    }
}
