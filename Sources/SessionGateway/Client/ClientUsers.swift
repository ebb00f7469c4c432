import GatewayModel
import HTTPMessages
import OAuth2
import SessionStore
import WebPrimitives

/// The users of a gateway on one event loop. A client signs in as one of them.
struct ClientUsers: Sendable {
    /// The jar of a user, and the user's connections to servers.
    struct Place: Sendable {
        let secret: GatewaySecretHash
        let frame: GatewayFrame
        let servers: UpstreamConnections
    }

    private let places: [String: Place]
    /// The hash of a secret that no client knows.
    private let unknown: GatewaySecretHash

    init(_ places: [String: Place]) {
        self.places = places
        var generator = SystemRandomNumberGenerator()
        unknown = GatewaySecretHash.newSecret(using: &generator).hash
    }

    /// The place of the user that the credentials of a request name (RFC 9110, section 11.7.2).
    func place(of head: MessageHead) throws(GatewayFailure) -> Place {
        let fields = head.values("proxy-authorization")
        guard !fields.isEmpty else { throw .credentialsMissing }
        guard fields.count == 1, let (name, secret) = ClientUsers.credentials(fields[0]),
            let place = place(name, secret)
        else { throw .credentialsInvalid }
        return place
    }

    /// The place of a user; `nil` if no user has that name and that secret.
    func place(_ name: some Collection<UInt8>, _ secret: some Collection<UInt8>) -> Place? {
        let place = places[String(decoding: name, as: UTF8.self)]
        // A secret is compared for an unknown name, too, so that the time does not show which names exist.
        guard let hash = GatewaySecretHash(of: Secret(secret)), hash == place?.secret ?? unknown else { return nil }
        return place
    }

    /// The name and the secret of a field with the scheme `Basic` (RFC 7617, section 2); `nil` if it is malformed.
    static func credentials(_ field: Octets) -> (name: ArraySlice<UInt8>, secret: ArraySlice<UInt8>)? {
        let parts = field.bytes.split(separator: ASCII.space, maxSplits: 1)
        guard parts.count == 2, Octets(Array(parts[0])).lowercased == "basic",
            let octets = Base64.decode(Octets(Array(parts[1])).trimmingBlanks),
            let colon = octets.firstIndex(of: ASCII.colon)
        else { return nil }
        return (octets[..<colon], octets[(colon + 1)...])
    }
}

extension ClientConnection {
    /// The connection as that of the user who sends a request.
    ///
    /// Outside of tunnels, each request has its own credentials. Those of a CONNECT request hold for the whole tunnel.
    ///
    /// - Parameter octets: The head of the request.
    /// - Returns: `nil` if the request was refused.
    func guest(for octets: [UInt8], of users: ClientUsers) async throws -> ClientConnection? {
        var record = GatewayRecord(time: gate.now())
        record.isDecorated = false
        record.method = "GET"
        do {
            let head: MessageHead
            do {
                head = try MessageHead(octets, from: .client)
                let line = try RequestLine(head.octets.span.extracting(head.startLine))
                record.method = String(decoding: head.octets[head.startLine][inside: line.method], as: UTF8.self)
                record.url = shownURL(head, line)
            } catch {
                throw GatewayFailure.requestInvalid(error)
            }
            return await guest(at: try users.place(of: head))
        } catch let failure as GatewayFailure {
            record.fail(failure)
            frame.observe(record)
            try await refuse(failure, method: record.method)
            return nil
        }
    }

    /// The connection as that of one user. The connections to servers that only this client used for another user end.
    func guest(at place: ClientUsers.Place) async -> ClientConnection {
        if let guest, guest.frame === place.frame { return guest }
        await guest?.servers.release(client: number)
        let guest = ClientConnection(client, number: number, place.frame, servers: place.servers)
        self.guest = guest
        // Both may have happened meanwhile.
        if isStopping { await guest.stop() }
        if isAborted { await guest.abort() }
        return guest
    }
}

extension [GatewayUser] {
    /// Checks the users of a gateway, and returns the jar of the first one.
    func firstJar(
        _ settings: GatewaySettings, _ environment: GatewayEnvironment
    ) throws(GatewayError) -> CookieJar {
        let reason: String
        switch first?.jar {
        case nil: reason = "there is none"
        case _ where !settings.origins.isEmpty: reason = "clients of a site at a local address cannot sign in"
        case _ where !environment.clientCertificates.isEmpty:
            reason = "servers would take all of them for the holder of the client certificate"
        case _ where environment.replay != nil: reason = "all of them would get the responses of one recording"
        case _ where Set(map(\.name)).count < count: reason = "two of them have the same name"
        case let jar? where allSatisfy({ $0.jar.database === jar.database }): return jar
        case _: reason = "their jars are of several databases"
        }
        throw GatewayError(code: .usersInvalid, "", reason)
    }
}

extension GatewayFailure {
    /// The client has not signed in.
    fileprivate static let credentialsMissing = GatewayFailure(
        .httpRequestDenied, 407, "the gateway serves only its users, and the request has no credentials of one",
        nextStep: "Give the client the name and the secret of a user as the credentials for the proxy.")

    /// The client has signed in in the wrong way.
    fileprivate static let credentialsInvalid = GatewayFailure(
        .httpRequestDenied, 407, "the gateway has no user with the name and the secret of the request",
        nextStep: "Check the credentials for the proxy. 'crumb gateway user list' lists the names.")
}
