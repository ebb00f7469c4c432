extension OAuth2Error.Code {
    // MARK: - What the server answered

    /// The grant is invalid, expired, revoked or used up (RFC 6749, section 5.2): only a new login helps.
    public static let invalidGrant = Self("invalid_grant")
    /// The server does not accept the client or its authentication (RFC 6749, section 5.2).
    public static let invalidClient = Self("invalid_client")
    /// The server refused with another error code, which ``OAuth2Error/serverCode`` tells.
    public static let refused = Self("refused")
    /// The server could not answer now (status 408, 429 or 5xx, or an error code that says so). The grant is not lost.
    public static let serverUnavailable = Self("server_unavailable")
    /// A status that no token endpoint's reply has, or a failure without an error code.
    public static let unexpectedStatus = Self("unexpected_status")

    // MARK: - What a reply or an import looks like

    /// More than ``TokenResponse/maximumBodySize`` bytes.
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
    /// A refresh without a refresh token.
    public static let missingRefreshToken = Self("missing_refresh_token")
}
