internal import Crypto
package import WebPrimitives

/// A login in a browser: the authorization code grant, always with PKCE and S256 (RFC 6749, section 4.1; RFC 7636).
///
/// The rules of RFC 9700, section 2.1 hold by construction: there is no other response type, every attempt has a
/// `state` and a code verifier, and the redirect URI goes to the token endpoint exactly as it went to the browser.
package struct AuthorizationCodeGrant: Sendable, Equatable {
    /// Where the user logs in.
    package var authorizationEndpoint: EndpointURL
    /// The server's token endpoint.
    package var tokenEndpoint: EndpointURL
    /// The server's issuer identifier; empty if it is not known.
    package var issuer: String
    /// Whether the server declares that it names itself in every redirect, so a redirect without a name is rejected
    /// (RFC 9207, section 2.4).
    package var sendsIssuer: Bool
    /// The client and its authentication.
    package var authentication: ClientAuthentication
    /// The URL that the browser returns to: a loopback URL, an app's claimed `https` URL, or one with a private-use
    /// scheme.
    package var redirectURI: String
    /// The scopes to request.
    package var scopes: Scopes
    /// The resources that the token is for (RFC 8707).
    package var resources: [String]
    /// Further parameters of the authorization request, such as `prompt`, `login_hint` or `acr_values`.
    package var parameters: [(name: String, value: String)] {
        get { furtherParameters.map { ($0.name, $0.value) } }
        set { furtherParameters = newValue.map { Parameter(name: $0.name, value: $0.value) } }
    }
    private var furtherParameters: [Parameter] = []

    /// The parameters that only the grant sets. They are ignored in ``parameters``, so no other response type, redirect
    /// or proof can be requested.
    package static let reservedParameters: Set<String> = [
        "response_type", "response_mode", "redirect_uri", "state", "nonce", "code_challenge", "code_challenge_method",
        "client_id", "client_secret", "request", "request_uri",
    ]

    private struct Parameter: Sendable, Equatable {
        let name: String
        let value: String
    }

    /// Creates a grant for one client at one server.
    package init(
        authorizationEndpoint: EndpointURL, tokenEndpoint: EndpointURL, issuer: String = "", sendsIssuer: Bool = false,
        authentication: ClientAuthentication, redirectURI: String, scopes: Scopes = [], resources: [String] = []
    ) {
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.issuer = issuer
        self.sendsIssuer = sendsIssuer
        self.authentication = authentication
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.resources = resources
    }

    // MARK: - To the browser

    /// The URL that the user's browser opens (RFC 6749, section 4.1.1). It contains `state` and `nonce`.
    package func exposedAuthorizationURL(for attempt: AuthorizationAttempt) -> String {
        var query = FormBody()
        query.append("client_id", authentication.clientID)
        append(attempt, to: &query)
        return url(query)
    }

    /// The request that pushes the parameters to the server first (RFC 9126, section 2.1).
    package func pushRequest(to endpoint: EndpointURL, for attempt: AuthorizationAttempt) -> EndpointRequest {
        var body = FormBody()
        append(attempt, to: &body)
        // Section 2.1 wants it whatever the authentication; those that send it in the body add it themselves.
        authentication.addIdentifier(to: &body)
        return EndpointRequest(endpoint: endpoint, authentication: authentication, body: body)
    }

    /// The URL that the user's browser opens after ``pushRequest(to:for:)`` was answered (RFC 9126, section 4).
    package func exposedAuthorizationURL(
        afterPush response: EndpointResponse, of attempt: AuthorizationAttempt
    ) throws(OAuth2Error) -> String {
        let members = try response.members(redacting: secrets(of: attempt))
        guard let requestURI = members["request_uri"]?.nonEmptyText else {
            throw .unusable(.incompleteReply, status: response.statusCode, "it has no request_uri")
        }
        var query = FormBody()
        query.append("client_id", authentication.clientID)
        query.append("request_uri", requestURI)
        return url(query)
    }

    private func append(_ attempt: AuthorizationAttempt, to form: inout FormBody) {
        form.append("response_type", "code")
        form.append("redirect_uri", redirectURI)
        form.append(scopes)
        form.append("state", attempt.state)
        form.append("code_challenge", attempt.codeChallenge)
        form.append("code_challenge_method", "S256")
        if scopes.contains("openid") { form.append("nonce", attempt.nonce) }
        form.append(resources: resources)
        for parameter in furtherParameters where !AuthorizationCodeGrant.reservedParameters.contains(parameter.name) {
            form.append(parameter.name, parameter.value)
        }
    }

    private func url(_ query: FormBody) -> String {
        let endpoint = authorizationEndpoint.description
        return endpoint + (endpoint.contains("?") ? "&" : "?") + query.query
    }

    // MARK: - Back from the browser

    /// The code in the redirect that ends a login (RFC 6749, section 4.1.2; RFC 9207, section 2.4).
    ///
    /// - Parameter redirect: The URL that the browser was redirected to, or its path and query.
    /// - Throws: ``OAuth2Error/Code/stateMismatch``, ``OAuth2Error/Code/issuerMismatch``,
    ///   ``OAuth2Error/Code/invalidRedirect``, or the error of the server.
    package func code(
        inRedirect redirect: String, to attempt: AuthorizationAttempt
    ) throws(OAuth2Error) -> Secret {
        let members = try Self.parameters(inRedirect: redirect)
        guard let state = members["state"], Secret(state) == attempt.state else {
            throw OAuth2Error(.stateMismatch, "The redirect does not belong to this login: its state is different.")
        }
        try checkIssuer(members["iss"])
        if let error = members["error"] {
            throw refusal(error, members["error_description"], of: attempt)
        }
        guard let code = members["code"], !code.isEmpty else {
            throw OAuth2Error(.invalidRedirect, "The redirect has neither a code nor an error.")
        }
        return Secret(code)
    }

    /// The state in a redirect, which identifies the login that it ends; `nil` if the redirect ends none.
    ///
    /// - Parameter redirect: The URL that the browser was redirected to, or its path and query.
    package static func state(inRedirect redirect: String) -> Secret? {
        (try? parameters(inRedirect: redirect))?["state"].map { Secret($0) }
    }

    private static func parameters(inRedirect redirect: String) throws(OAuth2Error) -> [String: String] {
        let query = redirect.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        var parameters: [String: String] = [:]
        for (name, value) in FormEncoding.decode(query) {
            // Section 3.1: a parameter must not be there twice. Which one would count is for attackers to try.
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw OAuth2Error(.invalidRedirect, "The redirect has a parameter more than once.")
            }
        }
        return parameters
    }

    private func checkIssuer(_ named: String?) throws(OAuth2Error) {
        guard named != nil || sendsIssuer, !issuer.isEmpty else { return }
        guard named == issuer else {
            throw OAuth2Error(
                .issuerMismatch,
                named == nil
                    ? "The redirect does not name its server, although the server's metadata says that it always does."
                    : "The redirect comes from another server, not from the one that was asked.")
        }
    }

    private func refusal(_ error: String, _ description: String?, of attempt: AuthorizationAttempt) -> OAuth2Error {
        var members = JSONObject()
        members.append("error", .string(Octets(error)))
        if let description { members.append("error_description", .string(Octets(description))) }
        return .refusal(
            status: nil, members: members, bodyKind: "an error without a name", redacting: secrets(of: attempt))
    }

    // MARK: - To the token endpoint

    /// The request that redeems a code (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
    package func request(redeeming code: Secret, of attempt: AuthorizationAttempt) -> EndpointRequest {
        var body = FormBody()
        body.append("grant_type", "authorization_code")
        body.append("code", code)
        body.append("redirect_uri", redirectURI)
        body.append("code_verifier", attempt.codeVerifier)
        body.append(resources: resources)
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// The tokens in the server's reply.
    package func tokens(
        in response: EndpointResponse, redeeming code: Secret, of attempt: AuthorizationAttempt, now: Timestamp
    ) throws(OAuth2Error) -> TokenSet {
        var tokens = try TokenResponse.tokenSet(response, now: now, redacting: secrets(of: attempt) + [code])
        if !scopes.isEmpty { tokens.scopes = tokens.scopes ?? scopes }
        return tokens
    }

    private func secrets(of attempt: AuthorizationAttempt) -> [Secret] {
        [attempt.state, attempt.codeVerifier, attempt.nonce] + authentication.secrets
    }
}

/// One login in a browser: the values that tie the redirect at its end to the request at its start.
///
/// Create one for each login, and use it once (RFC 9700, section 2.1).
package struct AuthorizationAttempt: Sendable, Equatable {
    /// Returned in the redirect, which identifies it as the response to this login.
    package let state: Secret
    /// Proves that the same client began the login (RFC 7636, section 4.1): 43 characters of 256 random bits.
    package let codeVerifier: Secret
    /// Returned in the ID token (OpenID Connect Core 1.0, section 3.1.2.1).
    package let nonce: Secret

    /// Creates a new attempt.
    ///
    /// - Parameter generator: A cryptographically secure source; in programs `SystemRandomNumberGenerator`.
    package init(using generator: inout some RandomNumberGenerator) {
        state = Secret(Base64.randomForURL(byteCount: 24, using: &generator))
        codeVerifier = Secret(Base64.randomForURL(byteCount: 32, using: &generator))
        nonce = Secret(Base64.randomForURL(byteCount: 24, using: &generator))
    }

    /// Creates an attempt from its parts, for example one that was stored during the login.
    package init(state: Secret, codeVerifier: Secret, nonce: Secret) {
        self.state = state
        self.codeVerifier = codeVerifier
        self.nonce = nonce
    }

    /// The S256 code challenge (RFC 7636, section 4.2). There is no `plain` here.
    var codeChallenge: String {
        Base64.textForURL(Array(SHA256.hash(data: codeVerifier.exposedBytes)))
    }
}
