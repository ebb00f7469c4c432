extension OAuth2Error.Code {
    // MARK: - What the server answered

    /// The grant is invalid, expired, revoked or used up (RFC 6749, section 5.2): only a new login helps.
    public static let invalidGrant = Self("invalid_grant")
    /// The server does not accept the client or its authentication (RFC 6749, section 5.2).
    public static let invalidClient = Self("invalid_client")
    /// The server refused with another error code, which ``OAuth2Error/serverCode`` tells.
    public static let refused = Self("refused")
    /// The server could not answer now (status 408, 425, 429 or 5xx, or an error code that says so). The grant is not
    /// lost.
    public static let serverUnavailable = Self("server_unavailable")
    /// A status that no token endpoint's reply has, or a failure without an error code.
    public static let unexpectedStatus = Self("unexpected_status")

    /// The server cannot be reached, or the connection broke. The grant is not lost.
    public static let unreachable = Self("unreachable")
    /// The user, or the server in the user's place, has said no (`access_denied`).
    public static let accessDenied = Self("access_denied")
    /// A device code was not confirmed in time (`expired_token`; RFC 8628, section 3.5).
    public static let deviceCodeExpired = Self("device_code_expired")

    // MARK: - What a redirect or a server's document looks like

    /// A redirect that is no answer to this login: its `state` is another one, or missing (RFC 9700, section 4.7).
    public static let stateMismatch = Self("state_mismatch")
    /// A redirect, document or token of another issuer than the one that was asked (RFC 9207; RFC 8414, section 3.3).
    public static let issuerMismatch = Self("issuer_mismatch")
    /// A redirect without a code, or with a parameter more than once.
    public static let invalidRedirect = Self("invalid_redirect")
    /// A reply that lacks a member which it must have, or has it in another form.
    public static let incompleteReply = Self("incomplete_reply")
    /// An ID token that is not for this client and this login, or is no ID token (OpenID Connect Core 1.0, section
    /// 3.1.3.7).
    public static let invalidIDToken = Self("invalid_id_token")
    /// A login that is not as recent, or was made in another way, than was asked for (RFC 9470).
    public static let unmetAuthentication = Self("unmet_authentication_requirements")
    /// The server has no such endpoint, or does not tell it.
    public static let endpointMissing = Self("endpoint_missing")

    // MARK: - What a reply or an import looks like

    /// More than ``EndpointResponse/maximumBodySize`` bytes.
    public static let tooLarge = Self("too_large")
    /// Nothing but white space.
    public static let empty = Self("empty")
    /// Markup, as login pages and proxies send it.
    public static let markup = Self("markup")
    /// Not JSON, or JSON that breaks off.
    public static let notJSON = Self("not_json")
    /// JSON, but not an object.
    public static let notAnObject = Self("not_an_object")
    /// No `access_token`.
    public static let missingAccessToken = Self("missing_access_token")
    /// An access token that is not a string of visible ASCII characters.
    public static let invalidAccessToken = Self("invalid_access_token")
    /// A refresh token, ID token or token type with characters that it cannot have.
    public static let invalidMember = Self("invalid_member")

    // MARK: - What was asked for

    /// An endpoint that is not an absolute `http` or `https` URL without user information and fragment.
    public static let invalidEndpoint = Self("invalid_endpoint")
    /// An endpoint without TLS that is not on this machine.
    public static let insecureEndpoint = Self("insecure_endpoint")
    /// A setting of this machine, such as its proxy or its certificate authorities, that cannot be used. Nothing was sent.
    public static let unusableSettings = Self("unusable_settings")
    /// A key that is none for the algorithm.
    public static let invalidKey = Self("invalid_key")
    /// A refresh without a refresh token.
    public static let missingRefreshToken = Self("missing_refresh_token")
}
