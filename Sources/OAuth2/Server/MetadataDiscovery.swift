internal import WebPrimitives

/// Finds out what a server says of itself, by its issuer identifier (RFC 8414, section 3).
public struct MetadataDiscovery: Sendable, Equatable {
    /// A document that a server may have.
    public enum Document: Sendable, CaseIterable {
        /// RFC 8414, section 3: `/.well-known/oauth-authorization-server` between host and path.
        case authorizationServer
        /// OpenID Connect Discovery 1.0, section 4: `/.well-known/openid-configuration` behind the path.
        case openIDProvider
        /// RFC 8414, section 5: `/.well-known/openid-configuration` between host and path. The same as
        /// ``openIDProvider`` where the issuer has no path.
        case insertedOpenIDProvider
    }

    /// The server's identifier, exactly as it was given.
    public let issuer: String
    private let url: EndpointURL
    private let allowsPlainHTTP: Bool

    /// The discovery of a server.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier, an `https` URL without query and fragment.
    ///   - dangerouslyAllowingPlainHTTP: See ``EndpointURL/init(_:dangerouslyAllowingPlainHTTP:)``.
    public init(issuer: String, dangerouslyAllowingPlainHTTP: Bool = false) throws(OAuth2Error) {
        url = try EndpointURL(issuer, dangerouslyAllowingPlainHTTP: dangerouslyAllowingPlainHTTP)
        guard !url.path.contains("?") else {
            throw OAuth2Error(.invalidEndpoint, "An issuer is a URL without a query.")
        }
        self.issuer = issuer
        allowsPlainHTTP = dangerouslyAllowingPlainHTTP
    }

    /// The request for a document.
    public func request(for document: Document) throws(OAuth2Error) -> EndpointRequest {
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
    /// - Throws: ``OAuth2Error/Code/issuerMismatch`` where the document is of another server (RFC 8414, section 3.3):
    ///   the two are compared octet for octet.
    public func metadata(in response: EndpointResponse) throws(OAuth2Error) -> ServerMetadata {
        let members = try response.members(redacting: [])
        let named = members["issuer"]?.nonEmptyText
        guard let named, Array(named.utf8) == Array(issuer.utf8) else {
            throw OAuth2Error(
                .issuerMismatch, status: response.statusCode,
                "The server's document is of another issuer\(MetadataDiscovery.quoted(named)) than the one that was "
                    + "asked; compare the two exactly.")
        }
        return ServerMetadata(issuer: issuer, members: members)
    }

    /// What a document says its issuer is, for the middle of a sentence, where it is a URL and nothing else.
    private static func quoted(_ issuer: String?) -> String {
        guard let issuer, issuer.utf8.count <= 200,
            let url = try? EndpointURL(issuer, dangerouslyAllowingPlainHTTP: true), !url.path.contains("?")
        else { return "" }
        return ", '\(issuer)',"
    }

    /// Asks a server for its documents.
    ///
    /// - Parameter needed: The endpoints to look for; a further document is read only where those before lack one.
    public func metadata(
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
                // Another issuer's document is not a missing one: somebody answers in the server's place. Of the rest
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
