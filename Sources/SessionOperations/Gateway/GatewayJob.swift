package import CookieModel
package import GatewayModel
package import OAuth2
package import RequestDecoration
package import SessionStore
package import SessionWire

/// A gateway that a command or the service runs: its settings, and the functions that get what happens in it.
package struct GatewayJob: Sendable {
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

    /// The jar of all requests. A gateway with ``users`` uses only its database.
    package let jar: CookieJar
    /// The users; none for a gateway that any client of this machine may use.
    package var users: [GatewayUser] = []
    package let clock: @Sendable () -> Timestamp
    package var settings = GatewaySettings()
    /// The authority that clients trust; `nil` for one that exists for this run only.
    package var authority: StoredAuthority?
    /// The certificates that servers get which ask for one.
    package var clientCertificates: [WebHost: ClientCertificate] = [:]
    /// The file that requests and responses are recorded in; `nil` for none.
    package var recordPath: String?
    /// Whether values of cookies and credentials are recorded.
    package var recordsSecrets = false
    /// The HAR that answers requests; `nil` for none.
    package var replayPath: String?
    /// How many octets of responses are kept for the jar; `nil` if none are.
    package var cacheSize: Int64?
    /// Whether the offline packages of the jar answer requests.
    package var usesPackages = false
    /// How many clients are connected at the same time; `nil` for the gateway's own limit.
    package var connectionLimit: Int?
    /// How many octets of requests' bodies are kept at the same time; `nil` for the gateway's own limit.
    package var keptBodies: Int?
    /// Whether Control-C and SIGTERM cancel ``serving``. A second one ends the process. A command that runs beside the
    /// gateway gets signals itself.
    package var stopsOnSignals = false
    /// Runs while the gateway does, which stops when it returns.
    package var serving: @Sendable (Access) async throws -> Void = { _ in }

    /// Gets a report of each request; `nil` if none is wanted.
    package var log: (@Sendable (GatewayRequestReport) -> Void)?
    /// Gets the way of each request, at once; `nil` if nothing is wanted. It must not block.
    package var passed: (@Sendable (GatewayPassage) -> Void)?
    /// Gets the events that pages send; `nil` if none are wanted.
    package var pageEvents: (@Sendable (PageEventReport) -> Void)?
    /// Makes the fallback that signs the user in again by the login rules of the jar.
    package let fallback: @Sendable ([LoginRule]) -> LoginFallback
    /// Gets, once each, the reasons why a user could not be signed in again, and why no more can be recorded.
    package let failed: @Sendable (String) -> Void

    /// Creates the job for a gateway of a jar.
    package init(
        jar: CookieJar, clock: @escaping @Sendable () -> Timestamp,
        fallback: @escaping @Sendable ([LoginRule]) -> LoginFallback,
        failed: @escaping @Sendable (String) -> Void
    ) {
        self.jar = jar
        self.clock = clock
        self.fallback = fallback
        self.failed = failed
    }

    /// The jars whose sessions requests get: one, or that of each user.
    package var jars: [CookieJar] { users.isEmpty ? [jar] : users.map(\.jar) }

    /// The sites that the jars have cookies, header fields or login rules for.
    package func sites() throws -> Set<Octets> { try jars.reduce(into: []) { $0.formUnion(try sites(of: $1)) } }

    private func sites(of jar: CookieJar) throws -> Set<Octets> {
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
