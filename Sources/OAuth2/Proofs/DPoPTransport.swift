internal import HTTPTypes
internal import WebPrimitives

/// A transport that proves with each request that the client has a key (RFC 9449, section 5): the one
/// that the token is bound to, where the request presents one (section 7).
///
/// Where the server asks for a nonce, the request is sent once more with it (section 8). The server has issued nothing
/// then, so that this repeats no grant.
public struct DPoPTransport: EndpointTransport {
    private let base: any EndpointTransport
    private let key: SigningKey
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - base: What sends the requests.
    ///   - key: The key that tokens are bound to.
    ///   - now: The time, in microseconds since the Unix epoch.
    public init(_ base: any EndpointTransport, key: SigningKey, now: @escaping @Sendable () -> Int64) {
        self.base = base
        self.key = key
        self.now = now
    }

    /// Sends a request with a proof, and once more where the server wants a nonce in it.
    public func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let response = try await base.send(try proven(request, nonce: nil))
        guard let nonce = DPoPTransport.demandedNonce(in: response) else { return response }
        return try await base.send(try proven(request, nonce: nonce))
    }

    private func proven(_ request: EndpointRequest, nonce: String?) throws(OAuth2Error) -> EndpointRequest {
        var generator = SystemRandomNumberGenerator()
        let proof = try DPoPProof(key: key, nonce: nonce).value(
            method: request.method.rawValue, url: request.endpoint.withoutQuery, accessToken: request.boundToken,
            now: now(), using: &generator)
        return request.proving(with: proof)
    }

    /// The nonce that the server wants: it refuses the request, and names one.
    private static func demandedNonce(in response: EndpointResponse) -> String? {
        guard response.status.code == 400 || response.status.code == 401, let name = HTTPField.Name("DPoP-Nonce"),
            let nonce = response.exposedFields[name], DPoPNonces.isNonce(nonce)
        else { return nil }
        // A token endpoint says so in its body (section 8), what takes access tokens in a challenge (section 9).
        let challenges = response.exposedFields[values: .wwwAuthenticate].flatMap { value in
            AuthenticationChallenge.challenges(in: value.utf8)
        }
        if challenges.contains(where: \.wantsNonce) { return nonce }
        guard case .object(let members) = JSONDocument(response.exposedBody),
            members["error"]?.text == "use_dpop_nonce"
        else { return nil }
        return nonce
    }
}
