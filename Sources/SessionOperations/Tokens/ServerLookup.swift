package import OAuth2

/// Which authorization server: by its issuer, where its endpoints are looked up, by its endpoints one by one, or both.
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

    /// What is known of the server; it is asked where an endpoint is missing.
    ///
    /// - Parameters:
    ///   - name: what the tokens are called, for messages.
    ///   - needed: the endpoints that will be used.
    /// - Throws: `OperationError` where no server was said, `OAuth2Error` where it cannot be asked.
    package func metadata(
        for name: String, needing needed: Set<ServerMetadata.Endpoint>, over transport: any EndpointTransport
    ) async throws -> ServerMetadata {
        guard let issuer else {
            guard !endpoints.isEmpty else {
                throw OperationError(
                    .tokenSettingsInvalid, "\(name): which server? Give its issuer, or its endpoints")
            }
            return ServerMetadata(endpoints: endpoints)
        }
        let missing = needed.subtracting(endpoints.keys)
        guard !missing.isEmpty else { return ServerMetadata(issuer: issuer, endpoints: endpoints) }
        let discovery = try MetadataDiscovery(
            issuer: issuer, dangerouslyAllowingPlainHTTP: dangerouslyAllowsPlainHTTP)
        var metadata = try await discovery.metadata(over: transport, needing: missing)
        metadata.endpoints.merge(endpoints) { $1 }
        return metadata
    }
}
