package import CookieModel
package import OAuth2
package import RequestDecoration
package import SessionStore
package import SessionWire

/// Which cookies pass on to the client of a gateway.
package enum GatewayCookieMode: String, CaseIterable, Sendable {
    case mirror, strip, pass
}

/// The kind of client that sends its requests through a gateway.
package enum GatewayClient: String, CaseIterable, Sendable {
    case browser, tool
}

/// The parameters of a running gateway.
package struct GatewayOrder: Sendable {
    /// The details that a client needs to use the gateway.
    package struct Access: Sendable {
        /// Where it listens.
        package let listening: [GatewayListening]
        /// The certificate of its authority, in PEM; `nil` if it decrypts nothing.
        package let authority: String?

        /// How many clients are connected at present.
        package let openConnections: @Sendable () -> Int

        package init(
            listening: [GatewayListening], authority: String?, openConnections: @escaping @Sendable () -> Int
        ) {
            self.listening = listening
            self.authority = authority
            self.openConnections = openConnections
        }

        /// The address of the proxy.
        package var address: String { listening.first?.address ?? "" }
    }

    /// A site that is offered at an address.
    package struct Origin: Sendable {
        package let url: RequestURL
        package let port: Int

        package init(url: RequestURL, port: Int) {
            self.url = url
            self.port = port
        }
    }

    package let jar: CookieJar
    package let clock: @Sendable () -> Timestamp
    package var host = "127.0.0.1"
    package var port = 0
    /// The sites that are offered at addresses of their own; empty for a proxy.
    package var origins: [Origin] = []
    /// The kind of client that sends the requests: `browser` or `tool`.
    package var client = "tool"
    /// Which cookies pass on to the client: `mirror`, `strip` or `pass`.
    package var cookies = "mirror"
    /// The hosts whose https requests are decrypted.
    package var hosts: [HostPattern] = []
    /// The authority that clients trust for them; `nil` for one that exists for this run only.
    package var authority: StoredAuthority?
    /// The hosts whose requests pass unread all the same.
    package var bypassed: [HostPattern] = []
    /// The hosts with which TLS 1.0 and 1.1 are spoken, too.
    package var legacyTLS: [HostPattern] = []
    /// The certificates that servers get which ask for one.
    package var clientCertificates: [WebHost: ClientCertificate] = [:]
    /// Whether those to the sites that the jar has cookies, header fields or login rules for are, too.
    package var interceptsSites = false
    /// The file that requests and responses are recorded in; `nil` for none.
    package var recordPath: String?
    /// Whether values of cookies and credentials are recorded.
    package var recordsSecrets = false
    /// The HAR that answers requests; `nil` for none.
    package var replayPath: String?
    /// Whether no server is connected to.
    package var isOffline = false
    /// Whether Control-C and SIGTERM cancel ``serving``. A second one ends the process. A command that runs beside the
    /// gateway gets signals itself.
    package var stopsOnSignals = false
    /// Runs while the gateway does, which stops when it returns.
    package var serving: @Sendable (Access) async throws -> Void = { _ in }
    /// How many clients are connected at the same time; `nil` for the gateway's own limit.
    package var connectionLimit: Int?
    /// How many octets of requests' bodies are kept at the same time; `nil` for the gateway's own limit.
    package var keptBodies: Int?
    /// Gets a report of each request; `nil` if none is wanted.
    package var log: (@Sendable (GatewayRequestReport) -> Void)?

    /// Gets the way of each request, at once; `nil` if nothing is wanted. It must not block.
    package var passed: (@Sendable (GatewayPassage) -> Void)?

    /// Gets the events that pages send; `nil` if none are wanted.
    package var pageEvents: (@Sendable (PageEventReport) -> Void)?

    /// Makes the fallback that signs the user in again by the login rules of the jar.
    package let fallback: @Sendable ([LoginRule]) -> LoginFallback
    /// Gets the reason, once, why a user could not be signed in again.
    package let loginFailed: @Sendable (String) -> Void
    /// Gets the reason, once, why no more can be recorded.
    package let recordingFailed: @Sendable (String) -> Void

    /// Creates an order for a gateway of a jar.
    ///
    /// - Parameters:
    ///   - fallback: Makes the fallback that signs the user in again by the login rules of the jar.
    ///   - failed: Gets, once each, the reason why a user could not be signed in again, and the reason why no more can
    ///     be recorded.
    package init(
        jar: CookieJar, clock: @escaping @Sendable () -> Timestamp,
        fallback: @escaping @Sendable ([LoginRule]) -> LoginFallback,
        failed: @escaping @Sendable (String) -> Void
    ) {
        self.jar = jar
        self.clock = clock
        self.fallback = fallback
        loginFailed = failed
        recordingFailed = failed
    }

    /// The hosts whose https requests are decrypted.
    package func interceptedHosts() throws -> InterceptedHosts {
        InterceptedHosts(
            hosts, sites: interceptsSites ? try sites() : [], bypassing: bypassed, jar.policy.publicSuffixes)
    }

    /// The sites that the jar has cookies, header fields or login rules for.
    package func sites() throws -> Set<Octets> {
        // A damaged rule is reported with the first request that it is for.
        let rules = ((try? jar.loginRules()) ?? []).map(\.rule.scope)
        let scopes = try jar.headerFields().compactMap(\.scope) + rules
        let hosts = scopes.compactMap { try? URLScope($0).prefix.host }
        return Set(try jar.sites() + hosts.map { $0.registrableDomain(jar.policy.publicSuffixes) })
    }

    /// Waits until the task is cancelled.
    package static func cancellation() async {
        let (stream, _) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
    }
}
