internal import WebPrimitives

/// The client and its authentication at the authorization server (RFC 6749, section 2.3).
public enum ClientAuthentication: Sendable, Equatable {
    /// A client without a secret, which only sends its identifier (`none`; section 3.2.1). An empty identifier, for
    /// tokens with an unknown client, is not sent.
    case publicClient(clientID: String)
    /// The secret in an `Authorization` field (`client_secret_basic`).
    case clientSecretBasic(clientID: String, secret: Secret)
    /// The secret in the body (`client_secret_post`), for servers that support nothing else.
    case clientSecretPost(clientID: String, secret: Secret)
    /// An assertion that the client's private key has signed, good for one request (`private_key_jwt`; RFC 7523).
    case clientAssertion(clientID: String, assertion: Secret)
    /// The same with the client's secret as the key (`client_secret_jwt`; OpenID Connect Core 1.0, section 9).
    case clientSecretAssertion(clientID: String, assertion: Secret)

    /// A certificate, presented in the TLS handshake (`tls_client_auth`; RFC 8705, section 2.1).
    case tlsClientAuth(clientID: String)
    /// A certificate that the client has issued itself (`self_signed_tls_client_auth`; RFC 8705, section 2.2).
    case selfSignedTLSClientAuth(clientID: String)

    /// The client identifier.
    package var clientID: String {
        switch self {
        case .publicClient(let clientID), .clientSecretBasic(let clientID, _), .clientSecretPost(let clientID, _),
            .clientAssertion(let clientID, _), .clientSecretAssertion(let clientID, _),
            .tlsClientAuth(let clientID), .selfSignedTLSClientAuth(let clientID):
            clientID
        }
    }

    /// The method's registered name, as in `token_endpoint_auth_methods_supported` (RFC 7591, section 2).
    package var methodName: String {
        switch self {
        case .publicClient: "none"
        case .clientSecretBasic: "client_secret_basic"
        case .clientSecretPost: "client_secret_post"
        case .clientAssertion: "private_key_jwt"
        case .clientSecretAssertion: "client_secret_jwt"
        case .tlsClientAuth: "tls_client_auth"
        case .selfSignedTLSClientAuth: "self_signed_tls_client_auth"
        }
    }

    /// The client's secret, if it has one.
    var secret: Secret? {
        switch self {
        case .publicClient, .tlsClientAuth, .selfSignedTLSClientAuth: nil
        case .clientSecretBasic(_, let secret), .clientSecretPost(_, let secret), .clientAssertion(_, let secret),
            .clientSecretAssertion(_, let secret):
            secret
        }
    }

    /// The secrets that a message must not repeat.
    var secrets: [Secret] { [secret].compactMap(\.self) }

    /// Adds the identifier to `body` if the method sends it elsewhere, because servers require it in some forms anyway.
    func addIdentifier(to body: inout FormBody) {
        if case .clientSecretBasic(let clientID, _) = self { body.append("client_id", clientID) }
    }

    /// Adds the parameters of the method to `body`.
    func addParameters(to body: inout FormBody) {
        switch self {
        // RFC 8705, section 2: the identifier tells the server which client's certificate to expect.
        case .publicClient(let clientID), .tlsClientAuth(let clientID), .selfSignedTLSClientAuth(let clientID):
            if !clientID.isEmpty { body.append("client_id", clientID) }
        case .clientSecretBasic:
            break
        case .clientSecretPost(let clientID, let secret):
            body.append("client_id", clientID)
            body.append("client_secret", secret)
        case .clientAssertion(let clientID, let assertion), .clientSecretAssertion(let clientID, let assertion):
            body.append("client_id", clientID)
            body.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            body.append("client_assertion", assertion)
        }
    }

    /// The value of the `Authorization` field; `nil` if the method sends none.
    ///
    /// Section 2.3.1: identifier and secret are form-encoded, each on its own, before they are joined.
    var authorization: Secret? {
        guard case .clientSecretBasic(let clientID, let secret) = self else { return nil }
        let space = Array("%20".utf8)
        let pair =
            FormEncoding.encode(clientID, space: space) + [UInt8(ascii: ":")]
            + FormEncoding.encode(secret, space: space)
        return Secret(Array("Basic ".utf8) + Base64.encode(pair))
    }
}
