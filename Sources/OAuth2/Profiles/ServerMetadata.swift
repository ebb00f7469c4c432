internal import WebPrimitives

/// The metadata of an authorization server (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3).
public struct ServerMetadata: Sendable, Equatable {
    /// An endpoint, by the name of the member that holds its URL.
    public enum Endpoint: String, Sendable, CaseIterable {
        /// Where users log in.
        case authorization = "authorization_endpoint"
        /// Where tokens are issued.
        case token = "token_endpoint"
        /// Where a login on another device begins.
        case deviceAuthorization = "device_authorization_endpoint"
        /// Where authorization requests are pushed to.
        case pushedAuthorization = "pushed_authorization_request_endpoint"
        /// Where tokens are revoked.
        case revocation = "revocation_endpoint"
        /// Where tokens are introspected.
        case introspection = "introspection_endpoint"
        /// Where the user's claims are.
        case userInfo = "userinfo_endpoint"
        /// Where the server's keys are.
        case keys = "jwks_uri"
        /// Where clients are registered.
        case registration = "registration_endpoint"

        /// The purpose of the endpoint, as a phrase.
        var purpose: String {
            switch self {
            case .authorization: "logging in in a browser"
            case .token: "issuing tokens"
            case .deviceAuthorization: "logging in on another device"
            case .pushedAuthorization: "pushing authorization requests"
            case .revocation: "revoking tokens"
            case .introspection: "introspecting tokens"
            case .userInfo: "the user's claims"
            case .keys: "its keys"
            case .registration: "registering clients"
            }
        }
    }

    /// The server's identifier.
    package var issuer: String
    /// The URLs of the metadata, unchanged.
    package var endpoints: [Endpoint: String]
    /// The endpoints for clients with a certificate (RFC 8705, section 5).
    package var mutualTLSEndpoints: [Endpoint: String] = [:]
    /// Whether the server names itself in every redirect (RFC 9207, section 3).
    package var sendsIssuer = false
    /// Whether the server accepts only pushed authorization requests (RFC 9126, section 5).
    package var requiresPushedRequests = false
    /// The authentication methods of the token endpoint; `nil` if the metadata has none.
    package var authenticationMethods: [String]?
    /// The signature algorithms of the server's ID tokens; `nil` if the metadata has none.
    package var idTokenAlgorithms: [String]?

    /// Metadata from its parts, for a server that has none.
    package init(issuer: String = "", endpoints: [Endpoint: String] = [:]) {
        self.issuer = issuer
        self.endpoints = endpoints
    }

    init(issuer: String, members: JSONObject) {
        self.init(issuer: issuer)
        let aliases = members["mtls_endpoint_aliases"]?.object
        for endpoint in Endpoint.allCases {
            endpoints[endpoint] = members.value(named: endpoint.rawValue)?.nonEmptyText
            mutualTLSEndpoints[endpoint] = aliases?.value(named: endpoint.rawValue)?.nonEmptyText
        }
        if case .boolean(let sends)? = members["authorization_response_iss_parameter_supported"] { sendsIssuer = sends }
        if case .boolean(let requires)? = members["require_pushed_authorization_requests"] {
            requiresPushedRequests = requires
        }
        authenticationMethods = members["token_endpoint_auth_methods_supported"]?.texts
        idTokenAlgorithms = members["id_token_signing_alg_values_supported"]?.texts
    }

    /// Returns the URL of an endpoint.
    ///
    /// - Parameter dangerouslyAllowingPlainHTTP: See ``EndpointURL/init(_:dangerouslyAllowingPlainHTTP:)``.
    /// - Throws: ``OAuth2Error/Code/endpointMissing``, or an error if secrets must not be sent to the URL.
    package func url(
        of endpoint: Endpoint, dangerouslyAllowingPlainHTTP: Bool = false
    ) throws(OAuth2Error) -> EndpointURL {
        guard let text = endpoints[endpoint] else {
            throw OAuth2Error(
                .endpointMissing,
                advice:
                    "The server's metadata has no endpoint for \(endpoint.purpose); name it when you log in or import tokens"
                    + "\(command: ": --endpoint \(endpoint.rawValue)=URL").")
        }
        return try EndpointURL(text, dangerouslyAllowingPlainHTTP: dangerouslyAllowingPlainHTTP)
    }

    /// Returns this metadata, completed with values of `other`.
    func completed(by other: ServerMetadata) -> ServerMetadata {
        var metadata = self
        metadata.endpoints.merge(other.endpoints) { own, _ in own }
        metadata.mutualTLSEndpoints.merge(other.mutualTLSEndpoints) { own, _ in own }
        metadata.sendsIssuer = sendsIssuer || other.sendsIssuer
        metadata.requiresPushedRequests = requiresPushedRequests || other.requiresPushedRequests
        metadata.authenticationMethods = authenticationMethods ?? other.authenticationMethods
        metadata.idTokenAlgorithms = idTokenAlgorithms ?? other.idTokenAlgorithms
        return metadata
    }
}

/// Finds the metadata of a server by its issuer identifier (RFC 8414, section 3).
package struct MetadataDiscovery: Sendable, Equatable {
    /// A document that a server may have.
    package enum Document: Sendable, CaseIterable {
        /// RFC 8414, section 3: `/.well-known/oauth-authorization-server` between host and path.
        case authorizationServer
        /// OpenID Connect Discovery 1.0, section 4: `/.well-known/openid-configuration` after the path.
        case openIDProvider
        /// RFC 8414, section 5: `/.well-known/openid-configuration` between host and path. The same as
        /// ``openIDProvider`` if the issuer has no path.
        case insertedOpenIDProvider
    }

    /// The server's identifier, exactly as it was given.
    package let issuer: String
    private let url: EndpointURL
    private let allowsPlainHTTP: Bool

    /// The discovery of a server.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier, an `https` URL without query and fragment.
    ///   - dangerouslyAllowingPlainHTTP: See ``EndpointURL/init(_:dangerouslyAllowingPlainHTTP:)``.
    package init(issuer: String, dangerouslyAllowingPlainHTTP: Bool = false) throws(OAuth2Error) {
        url = try EndpointURL(issuer, dangerouslyAllowingPlainHTTP: dangerouslyAllowingPlainHTTP)
        guard !url.path.contains("?") else {
            throw OAuth2Error(.invalidEndpoint, "An issuer is a URL without a query.")
        }
        self.issuer = issuer
        allowsPlainHTTP = dangerouslyAllowingPlainHTTP
    }

    /// The request for a document.
    package func request(for document: Document) throws(OAuth2Error) -> EndpointRequest {
        let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        let text =
            switch document {
            case .authorizationServer:
                "\(url.scheme)://\(url.authority)/.well-known/oauth-authorization-server\(path)"
            case .openIDProvider: "\(url.scheme)://\(url.authority)\(path)/.well-known/openid-configuration"
            case .insertedOpenIDProvider:
                "\(url.scheme)://\(url.authority)/.well-known/openid-configuration\(path)"
            }
        return EndpointRequest(reading: try EndpointURL(text, dangerouslyAllowingPlainHTTP: allowsPlainHTTP))
    }

    /// The metadata in a reply.
    ///
    /// - Throws: ``OAuth2Error/Code/issuerMismatch`` if the document is of another server (RFC 8414, section 3.3):
    ///   the two are compared octet for octet.
    package func metadata(in response: EndpointResponse) throws(OAuth2Error) -> ServerMetadata {
        let members = try response.members(redacting: [])
        let named = members["issuer"]?.nonEmptyText
        guard let named, Array(named.utf8) == Array(issuer.utf8) else {
            throw OAuth2Error(
                .issuerMismatch, status: response.statusCode,
                "The server's metadata is for another issuer\(MetadataDiscovery.quoted(named)), not for the "
                    + "one that was asked; the two must be identical.")
        }
        return ServerMetadata(issuer: issuer, members: members)
    }

    /// The issuer in a document, for the middle of a sentence, if it is a URL and nothing else.
    private static func quoted(_ issuer: String?) -> String {
        guard let issuer, issuer.utf8.count <= 200,
            let url = try? EndpointURL(issuer, dangerouslyAllowingPlainHTTP: true), !url.path.contains("?")
        else { return "" }
        return ", '\(issuer)'"
    }

    /// Asks a server for its documents.
    ///
    /// - Parameter needed: The endpoints to look for; a further document is read only if those before lack one.
    package func metadata(
        over transport: any EndpointTransport, needing needed: Set<ServerMetadata.Endpoint> = []
    ) async throws(OAuth2Error) -> ServerMetadata {
        var found: ServerMetadata?
        var failure: OAuth2Error?
        var asked: Set<EndpointURL> = []
        for document in Document.allCases {
            do {
                let request = try request(for: document)
                guard asked.insert(request.endpoint).inserted else { continue }
                let metadata = try metadata(in: try await transport.send(request))
                found = found?.completed(by: metadata) ?? metadata
            } catch {
                // Another issuer's document is not a missing one: someone answers in the server's place. Of the rest
                // the first failure tells more.
                guard error.code != .issuerMismatch, error.code != .unreachable else { throw error }
                failure = failure ?? error
            }
            if let found, needed.allSatisfy({ found.endpoints[$0] != nil }) { return found }
        }
        if let found { return found }
        throw failure ?? OAuth2Error(.endpointMissing, "The server has no metadata.")
    }
}
