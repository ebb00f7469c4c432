package import OAuth2
import WebPrimitives

/// Which authorization server: by its issuer, from which its endpoints are looked up, by each endpoint, or both.
package struct ServerLookup: Sendable {
    package var issuer: String?
    /// Endpoints that the server does not tell; they count before those that it tells.
    package var endpoints: [ServerMetadata.Endpoint: String]
    package var dangerouslyAllowsPlainHTTP: Bool

    package init(
        issuer: String?, endpoints: [ServerMetadata.Endpoint: String], dangerouslyAllowsPlainHTTP: Bool = false
    ) {
        self.issuer = issuer
        self.endpoints = endpoints
        self.dangerouslyAllowsPlainHTTP = dangerouslyAllowsPlainHTTP
    }

    /// Returns the server's metadata as the request states it, without a request to the server.
    ///
    /// - Parameter name: The name of the tokens, for messages.
    /// - Throws: `LoginError` if the request names no server.
    package func stated(for name: String) throws -> ServerMetadata {
        if let issuer { return ServerMetadata(issuer: issuer, endpoints: endpoints) }
        guard !endpoints.isEmpty else {
            throw LoginError(
                .settingsInvalid,
                "\(name): name the server by its issuer (--issuer) or its endpoints (--endpoint)")
        }
        return ServerMetadata(endpoints: endpoints)
    }

    /// Returns the server's metadata. The server is only asked for it if an endpoint is missing.
    ///
    /// - Parameters:
    ///   - name: the name of the tokens, for messages.
    ///   - needed: the endpoints that will be used.
    /// - Throws: `LoginError` if the request names no server, `OAuth2Error` if the server cannot be asked.
    package func metadata(
        for name: String, needing needed: Set<ServerMetadata.Endpoint>, over transport: any EndpointTransport
    ) async throws -> ServerMetadata {
        let stated = try stated(for: name)
        let missing = needed.subtracting(endpoints.keys)
        guard let issuer, !missing.isEmpty else { return stated }
        let discovery = try MetadataDiscovery(
            issuer: issuer, dangerouslyAllowingPlainHTTP: dangerouslyAllowsPlainHTTP)
        var metadata = try await discovery.metadata(over: transport, needing: missing)
        metadata.endpoints.merge(endpoints) { $1 }
        return metadata
    }
}
