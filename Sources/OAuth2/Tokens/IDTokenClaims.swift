internal import Crypto
package import WebPrimitives

/// The claims of an ID token about a login (OpenID Connect Core 1.0, section 2).
package struct IDTokenClaims: Sendable, Equatable {
    /// The issuer.
    package let issuer: String
    /// The account's identifier at the issuer.
    package let subject: String
    /// The clients that it is for.
    package let audience: [String]
    /// The client that it was issued to, if it is for several.
    package let authorizedParty: String?
    /// When it ends.
    package let expiry: Timestamp
    /// When it was issued.
    package let issuedAt: Timestamp?
    /// When it starts to be valid (`nbf`; RFC 7519, section 4.1.5).
    package let notBefore: Timestamp?
    /// When the user logged in.
    package let authenticatedAt: Timestamp?
    /// How the user logged in (`acr`).
    package let authenticationContext: String?
    /// The user's e-mail address or name, for display.
    package let displayName: String?
    /// The algorithm of the signature, from the token's header.
    package let algorithm: String?
    private let nonce: Secret?
    private let hasCriticalExtensions: Bool
    /// The value of `at_hash` and of `c_hash`; empty if the member is not a string.
    private let accessTokenHash: String?
    private let codeHash: String?

    /// The claims in a token, whose signature is not looked at.
    ///
    /// For a token that came from the token endpoint itself, TLS vouches for the issuer (section 3.1.3.7, point 6).
    package init(unverified token: Secret) throws(OAuth2Error) {
        let parts = token.exposedBytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64.decodeForURL(parts[0]), let payload = Base64.decodeForURL(parts[1]),
            case .object(let header) = JSONDocument(head),
            case .object(let members) = JSONDocument(payload)
        else { throw OAuth2Error(invalidIDToken: "it is not a signed JSON Web Token") }
        algorithm = header["alg"]?.nonEmptyText
        hasCriticalExtensions = !header.all("crit").isEmpty
        guard let issuer = members["iss"]?.nonEmptyText, let subject = members["sub"]?.nonEmptyText,
            let expiry = members["exp"].flatMap(TokenExpiry.numericDate)
        else { throw OAuth2Error(invalidIDToken: "it lacks iss, sub or exp") }
        self.issuer = issuer
        self.subject = subject
        self.expiry = expiry
        audience = members["aud"]?.texts ?? []
        authorizedParty = members["azp"]?.nonEmptyText
        issuedAt = members["iat"].flatMap(TokenExpiry.numericDate)
        notBefore = members["nbf"].flatMap(TokenExpiry.numericDate)
        accessTokenHash = members.all("at_hash").last.map { $0.text ?? "" }
        codeHash = members.all("c_hash").last.map { $0.text ?? "" }
        authenticatedAt = members["auth_time"].flatMap(TokenExpiry.numericDate)
        authenticationContext = members["acr"]?.nonEmptyText
        displayName = members.first(of: ["email", "preferred_username", "name"])?.nonEmptyText
        nonce = members["nonce"]?.nonEmptyText.map { Secret($0) }
    }

    /// When the token was issued and when it ends. A token that does not say when it was issued counts as long-lived.
    package var lifetime: TokenLifetime { TokenLifetime(start: issuedAt ?? .distantPast, end: expiry) }

    /// Checks that the token is from this issuer, for this client and this login, is valid at `now`, and needs no
    /// extension of JSON Web Signature, of which none is understood here (section 3.1.3.7, points 2 to 5 and 9 to 11;
    /// RFC 7515, section 4.1.11).
    ///
    /// - Parameters:
    ///   - issuer: The server's issuer identifier; empty if it is not known.
    ///   - clientID: The client's identifier; empty if it is not known.
    ///   - nonce: The nonce of the authorization request; `nil` if it had none.
    ///   - skew: How far clocks may differ.
    /// - Throws: ``OAuth2Error/Code/issuerMismatch`` or ``OAuth2Error/Code/invalidIDToken``.
    package func check(
        issuer: String, clientID: String, nonce: Secret?, now: Timestamp, skew: Duration = .seconds(120)
    ) throws(OAuth2Error) {
        guard !hasCriticalExtensions else {
            throw OAuth2Error(invalidIDToken: "its header requires an extension that Crumb does not support (crit)")
        }
        guard issuer.isEmpty || Array(self.issuer.utf8) == Array(issuer.utf8) else {
            throw OAuth2Error(
                .issuerMismatch, "The ID token comes from another issuer, not from the one that was asked.")
        }
        let isForClient =
            audience.contains(clientID) && authorizedParty ?? clientID == clientID
            && (audience.count == 1 || authorizedParty == clientID)
        guard clientID.isEmpty || isForClient else { throw OAuth2Error(invalidIDToken: "it is for another client") }
        guard nonce == nil || nonce == self.nonce else {
            throw OAuth2Error(invalidIDToken: "it belongs to another login")
        }
        guard now < expiry.advanced(by: skew) else {
            throw OAuth2Error(invalidIDToken: "it has expired")
        }
        let latest = now.advanced(by: skew)
        guard notBefore ?? .distantPast <= latest else {
            throw OAuth2Error(
                invalidIDToken: "it is not valid yet (nbf); compare this machine's clock with the server's")
        }
        guard issuedAt ?? .distantPast <= latest else {
            throw OAuth2Error(
                invalidIDToken: "it was issued in the future (iat); compare this machine's clock with the server's")
        }
    }

    /// Checks that the token was issued together with an access token, and for a code (section 3.1.3.8; section
    /// 3.3.2.11).
    ///
    /// A token without these hashes passes: a server that answers at the token endpoint may leave them out.
    ///
    /// - Parameters:
    ///   - accessToken: The access token of the same reply.
    ///   - code: The code that was redeemed; `nil` if there was none.
    /// - Throws: ``OAuth2Error/Code/invalidIDToken``.
    package func check(accessToken: Secret, code: Secret? = nil) throws(OAuth2Error) {
        guard accessTokenHash == nil || accessTokenHash == halfHash(of: accessToken) else {
            throw OAuth2Error(invalidIDToken: "it belongs to another access token (at_hash)")
        }
        guard let code else { return }
        guard codeHash == nil || codeHash == halfHash(of: code) else {
            throw OAuth2Error(invalidIDToken: "it belongs to another authorization code (c_hash)")
        }
    }

    /// The left half of a hash, by the hash function of the signature's algorithm; `nil` if the algorithm has none.
    private func halfHash(of secret: Secret) -> String? {
        let bytes = secret.exposedBytes
        let hash: [UInt8]
        switch algorithm {
        // Ed25519 signs with SHA-512 (RFC 8032, section 5.1).
        case "EdDSA", "Ed25519": hash = Array(SHA512.hash(data: bytes))
        case let name? where name.hasSuffix("256"): hash = Array(SHA256.hash(data: bytes))
        case let name? where name.hasSuffix("384"): hash = Array(SHA384.hash(data: bytes))
        case let name? where name.hasSuffix("512"): hash = Array(SHA512.hash(data: bytes))
        default: return nil
        }
        return Base64.textForURL(hash.prefix(hash.count / 2))
    }

    /// Makes sure that the user has logged in as recently, and in one of the ways, that were asked for (section 3.1.3.7,
    /// points 12 and 13; RFC 9470, section 5).
    ///
    /// - Parameters:
    ///   - maximumAge: How many seconds ago the login may have been at most (`max_age`); `nil` if that was not asked.
    ///     A token that does not say when it was is refused: a server that was asked has to (section 2).
    ///   - authenticationContexts: The ways that were asked for, with spaces between (`acr_values`). A token that does
    ///     not say which it was is taken: a server need not tell.
    ///   - skew: How far clocks may differ.
    /// - Throws: ``OAuth2Error/Code/unmetAuthentication``.
    package func check(
        maximumAge: Int64?, authenticationContexts: String?, now: Timestamp, skew: Duration = .seconds(120)
    ) throws(OAuth2Error) {
        if let maximumAge {
            let end = (authenticatedAt ?? .distantPast).advanced(bySeconds: max(0, maximumAge)).advanced(by: skew)
            guard authenticatedAt != nil, now <= end else {
                throw OAuth2Error(
                    .unmetAuthentication,
                    "The login is older than requested, or the server does not report its time; log in again."
                )
            }
        }
        let contexts = (authenticationContexts ?? "").split(separator: " ").map(String.init)
        if let authenticationContext, !contexts.isEmpty, !contexts.contains(authenticationContext) {
            throw OAuth2Error(
                .unmetAuthentication, "The login used none of the requested authentication methods (acr_values).")
        }
    }

    /// Makes sure that a token that came with a refresh is of the same login as the one before it (section 12.2).
    ///
    /// - Throws: ``OAuth2Error/Code/issuerMismatch`` or ``OAuth2Error/Code/invalidIDToken``.
    package func check(following earlier: IDTokenClaims) throws(OAuth2Error) {
        guard Array(issuer.utf8) == Array(earlier.issuer.utf8) else {
            throw OAuth2Error(.issuerMismatch, "The refreshed ID token comes from another issuer.")
        }
        guard Array(subject.utf8) == Array(earlier.subject.utf8) else {
            throw OAuth2Error(invalidIDToken: "the refreshed one belongs to another account")
        }
        guard Set(earlier.audience).isSubset(of: audience), authorizedParty == earlier.authorizedParty else {
            throw OAuth2Error(invalidIDToken: "the refreshed one is for another client")
        }
        guard authenticatedAt == nil || earlier.authenticatedAt == nil || authenticatedAt == earlier.authenticatedAt,
            nonce == nil || nonce == earlier.nonce
        else { throw OAuth2Error(invalidIDToken: "the refreshed one belongs to another login") }
    }
}

extension OAuth2Error {
    /// The error of an ID token that cannot be used.
    ///
    /// - Parameter problem: The defect, as a clause without a full stop, and without any part of the token.
    package init(invalidIDToken problem: String) {
        self.init(invalidIDToken: ErrorSentence(problem))
    }

    /// - Parameter problem: The reason and the next step, which names options of commands for their users.
    package init(invalidIDToken problem: ErrorSentence) {
        self.init(.invalidIDToken, advice: "The ID token cannot be used: " + problem + ".")
    }
}
