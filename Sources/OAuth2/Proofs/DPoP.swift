internal import Crypto
internal import HTTPTypes
internal import Synchronization
package import WebPrimitives

/// A proof that the sender of a request has the key that tokens are bound to (RFC 9449, section 4.2).
package struct DPoPProof: Sendable, Equatable {
    /// The key.
    package var key: SigningKey
    /// The server's last nonce for this key (section 8); `nil` if it gave none.
    package var nonce: String?

    /// Creates proofs with a key.
    package init(key: SigningKey, nonce: String? = nil) {
        self.key = key
        self.nonce = nonce
    }

    /// The value of the `DPoP` field for one request.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - url: The request's URL without query and fragment.
    ///   - accessToken: The access token that goes with the request to a resource server; `nil` at the token endpoint.
    ///   - now: When it is made.
    ///   - generator: A cryptographically secure source: no two proofs are alike.
    package func value(
        method: String, url: String, accessToken: Secret? = nil, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> Secret {
        var header = JSONObjectWriter()
        header.append("typ", "dpop+jwt")
        header.append("alg", "ES256")
        header.append("jwk", json: try key.publicJWK)
        var payload = JSONObjectWriter()
        payload.append("jti", Base64.randomForURL(byteCount: 16, using: &generator))
        payload.append("htm", method)
        payload.append("htu", url)
        payload.append("iat", now.seconds)
        if let accessToken {
            let hash = Array(SHA256.hash(data: accessToken.exposedBytes))
            payload.append("ath", Base64.encodeForURL(hash))
        }
        if let nonce { payload.append("nonce", nonce) }
        return try key.signed(header: header, payload: payload)
    }
}

/// The nonces that servers require in proofs: the last one of each (RFC 9449, sections 8 and 9). Requests can share
/// them.
package final class DPoPNonces: Sendable {
    /// How many origins are remembered. A forgotten one costs one more request.
    private static let limit = 256

    private let nonces = Mutex<[String: String]>([:])

    /// Creates an empty set of nonces.
    package init() {}

    /// The last nonce of an origin; `nil` if it gave none.
    ///
    /// - Parameter origin: Scheme, host and port, such as `https://api.example`.
    package func nonce(for origin: String) -> String? {
        nonces.withLock { $0[origin] }
    }

    /// Stores the value of a `DPoP-Nonce` field. Ignores an invalid one.
    package func remember(_ nonce: String, for origin: String) {
        guard DPoPNonces.isNonce(nonce) else { return }
        nonces.withLock { nonces in
            if nonces.count >= DPoPNonces.limit, nonces[origin] == nil { nonces = [:] }
            nonces[origin] = nonce
        }
    }

    /// Section 8.1: `1*NQCHAR`. A nonce longer than any server's is not sent.
    package static func isNonce(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}

/// A transport that proves with each request that the client has a key (RFC 9449, section 5): the one
/// that the token is bound to, if the request presents one (section 7).
///
/// If the server asks for a nonce, the request is sent once more with it (section 8). The server has issued nothing
/// then, so that this repeats no grant.
package struct DPoPTransport: EndpointTransport {
    private let base: any EndpointTransport
    private let key: SigningKey
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - key: The key that tokens are bound to.
    ///   - now: The time.
    package init(_ base: any EndpointTransport, key: SigningKey, now: @escaping @Sendable () -> Timestamp) {
        self.base = base
        self.key = key
        self.now = now
    }

    /// Sends a request with a proof, and repeats it once if the server requires a nonce.
    package func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
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
        // A token endpoint requests a nonce in its body (section 8), a resource server in a challenge (section 9).
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
