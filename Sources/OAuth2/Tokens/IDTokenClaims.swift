/// What an ID token says of the login (OpenID Connect Core 1.0, section 2). Moments are microseconds since the Unix
/// epoch.
public struct IDTokenClaims: Sendable, Equatable {
    /// Who says so.
    public let issuer: String
    /// Whom it is about: the account's identifier at the issuer.
    public let subject: String
    /// The clients that it is for.
    public let audience: [String]
    /// The client that it was issued to, where there are several.
    public let authorizedParty: String?
    /// When it ends.
    public let expiry: Int64
    /// When it was issued.
    public let issuedAt: Int64?
    /// When the user logged in.
    public let authenticatedAt: Int64?
    /// How the user logged in (`acr`).
    public let authenticationContext: String?
    /// The user's e-mail address or name, for people.
    public let displayName: String?
    /// The algorithm of the signature, as the token's header has it.
    public let algorithm: String?
    private let nonce: Secret?

    /// The claims in a token, whose signature is not looked at.
    ///
    /// For a token that came from the token endpoint itself, TLS vouches for the issuer (section 3.1.3.7, point 6).
    public init(unverified token: Secret) throws(OAuth2Error) {
        let parts = token.exposedBytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.decodeForURL(parts[1]),
            case .object(let members) = JSONReader.document(payload)
        else { throw OAuth2Error(invalidIDToken: "it is not a signed JSON Web Token") }
        if let header = Base64.decodeForURL(parts[0]), case .object(let members) = JSONReader.document(header) {
            algorithm = members["alg"]?.nonEmptyText
        } else {
            algorithm = nil
        }
        guard let issuer = members["iss"]?.nonEmptyText, let subject = members["sub"]?.nonEmptyText,
            let expiry = members["exp"].flatMap(TokenExpiry.numericDate)
        else { throw OAuth2Error(invalidIDToken: "it lacks iss, sub or exp") }
        self.issuer = issuer
        self.subject = subject
        self.expiry = expiry
        audience = members["aud"]?.texts ?? []
        authorizedParty = members["azp"]?.nonEmptyText
        issuedAt = members["iat"].flatMap(TokenExpiry.numericDate)
        authenticatedAt = members["auth_time"].flatMap(TokenExpiry.numericDate)
        authenticationContext = members["acr"]?.nonEmptyText
        displayName = members.first(of: ["email", "preferred_username", "name"])?.nonEmptyText
        nonce = members["nonce"]?.nonEmptyText.map { Secret($0) }
    }

    /// Makes sure that the token is from this issuer, for this client and this login, and has not ended (section
    /// 3.1.3.7, points 2 to 5 and 9 to 11).
    ///
    /// - Parameters:
    ///   - issuer: The server's issuer identifier.
    ///   - nonce: What the authorization request had; `nil` where it had none.
    ///   - skew: How far clocks may differ.
    /// - Throws: ``OAuth2Error/Code/issuerMismatch`` or ``OAuth2Error/Code/invalidIDToken``.
    public func check(
        issuer: String, clientID: String, nonce: Secret?, now: Int64, skew: Duration = .seconds(120)
    ) throws(OAuth2Error) {
        guard Array(self.issuer.utf8) == Array(issuer.utf8) else {
            throw OAuth2Error(.issuerMismatch, "The ID token is of another issuer than the one that was asked.")
        }
        guard audience.contains(clientID), authorizedParty ?? clientID == clientID,
            audience.count == 1 || authorizedParty == clientID
        else { throw OAuth2Error(invalidIDToken: "it is for another client") }
        guard nonce == nil || nonce == self.nonce else { throw OAuth2Error(invalidIDToken: "it is of another login") }
        guard now < Microseconds.sum(expiry, Microseconds.count(of: skew)) else {
            throw OAuth2Error(invalidIDToken: "it has ended")
        }
    }

    /// Makes sure that the user has logged in as recently, and in one of the ways, that were asked for (section 3.1.3.7,
    /// points 12 and 13; RFC 9470, section 5).
    ///
    /// - Parameters:
    ///   - maximumAge: How many seconds ago the login may have been at most (`max_age`); `nil` where that was not asked.
    ///     A token that does not say when it was is refused: a server that was asked has to (section 2).
    ///   - authenticationContexts: The ways that were asked for, with spaces between (`acr_values`). A token that does
    ///     not say which it was is taken: a server need not tell.
    ///   - skew: How far clocks may differ.
    /// - Throws: ``OAuth2Error/Code/unmetAuthentication``.
    public func check(
        maximumAge: Int64?, authenticationContexts: String?, now: Int64, skew: Duration = .seconds(120)
    ) throws(OAuth2Error) {
        if let maximumAge {
            let end = Microseconds.sum(
                Microseconds.sum(authenticatedAt ?? .min, Microseconds.count(ofSeconds: max(0, maximumAge))),
                Microseconds.count(of: skew))
            guard authenticatedAt != nil, now <= end else {
                throw OAuth2Error(
                    .unmetAuthentication,
                    "The login is not as recent as was asked for, or the server does not say when it was; log in again."
                )
            }
        }
        let contexts = (authenticationContexts ?? "").split(separator: " ").map(String.init)
        if let authenticationContext, !contexts.isEmpty, !contexts.contains(authenticationContext) {
            throw OAuth2Error(
                .unmetAuthentication, "The login was made in another way than those that were asked for (acr_values).")
        }
    }

    /// Makes sure that a token that came with a refresh is of the same login as the one before it (section 12.2).
    ///
    /// - Throws: ``OAuth2Error/Code/issuerMismatch`` or ``OAuth2Error/Code/invalidIDToken``.
    public func check(following earlier: IDTokenClaims) throws(OAuth2Error) {
        guard Array(issuer.utf8) == Array(earlier.issuer.utf8) else {
            throw OAuth2Error(.issuerMismatch, "The refreshed ID token is of another issuer than the one before.")
        }
        guard Array(subject.utf8) == Array(earlier.subject.utf8) else {
            throw OAuth2Error(invalidIDToken: "the refreshed one is of another account than the one before")
        }
        guard Set(earlier.audience).isSubset(of: audience), authorizedParty == earlier.authorizedParty else {
            throw OAuth2Error(invalidIDToken: "the refreshed one is for another client than the one before")
        }
        guard authenticatedAt == nil || earlier.authenticatedAt == nil || authenticatedAt == earlier.authenticatedAt,
            nonce == nil || nonce == earlier.nonce
        else { throw OAuth2Error(invalidIDToken: "the refreshed one is of another login than the one before") }
    }
}

extension OAuth2Error {
    /// The error of an ID token that cannot be used.
    ///
    /// - Parameter problem: What is wrong with it, as a clause without a full stop, and without anything of the token.
    package init(invalidIDToken problem: String) {
        self.init(.invalidIDToken, "The ID token cannot be used: \(problem).")
    }
}
