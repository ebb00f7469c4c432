package import CookieModel
package import OAuth2
package import SessionStore

/// A token set without its tokens.
package struct StoredTokenReport: Codable {
    package let name: String
    package let issuer: String
    package let clientID: String
    package let account: String
    /// Who has logged in, as the ID token names the user; else the account.
    package let user: String?
    /// As ``TokenValidity``, or `login-required`.
    package let state: String
    package let scope: String?
    package let expires: String?
    package let hasRefreshToken: Bool
    /// When what the user allowed ends, and with it every renewal; only where the server told.
    package let grantExpires: String?
    /// Why the ID token of this refresh was not kept; one sentence.
    package let idTokenProblem: String?

    package init(_ stored: StoredToken, now: Timestamp) {
        name = stored.profile.name
        issuer = stored.profile.id.issuer
        clientID = stored.profile.id.clientID
        account = stored.profile.id.account
        user = LoggedInUser(account: stored.profile.id.account, stored.tokens).name
        state = stored.refusal == nil ? stored.tokens.validity(at: now.microseconds).rawValue : "login-required"
        scope = stored.tokens.scopes?.description
        expires = stored.tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        hasRefreshToken = stored.tokens.refreshToken != nil
        grantExpires = stored.tokens.grantExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        idTokenProblem = stored.idTokenRefusal?.description
    }

    /// The report for a person.
    package var text: String {
        "\(name): \(state), \(expires.map { "expires \($0)" } ?? "expiry unknown")"
            + (user.map { ", user \($0)" } ?? "")
            + (hasRefreshToken ? ", with a refresh token" : "")
            + (grantExpires.map { ", granted until \($0)" } ?? "")
    }
}

/// The tokens that are kept, in JSON, without the tokens.
package struct StoredTokenList: Codable {
    package private(set) var tokens: [StoredTokenReport] = []
    /// How many are kept that cannot be read back.
    package private(set) var unreadable = 0
    /// What is wrong with each of those; only where there are any.
    package private(set) var problems: [String]?

    /// No tokens.
    package init() {}

    package init(_ all: [Result<StoredToken, SessionStoreError>], now: Timestamp) {
        for result in all {
            switch result {
            case .success(let stored): tokens.append(StoredTokenReport(stored, now: now))
            case .failure(let error):
                unreadable += 1
                problems = (problems ?? []) + [error.description]
            }
        }
    }
}

/// A profile in full, but for its secrets.
package struct TokenStatusReport: Codable {
    package let token: StoredTokenReport
    package let tokenType: String
    package let received: String
    package let refreshTokenExpires: String?
    package let hasIDToken: Bool
    package let grant: String?
    package let authenticationMethod: String?
    package let requestedScope: String?
    package let resources: [String]
    package let endpoints: [String: String]
    package let isBoundToKey: Bool
    /// The SHA-256 thumbprint of the certificate that the access token says it is bound to (RFC 8705).
    package let boundCertificate: String?
    /// Where it is kept, and what seals it; only for whom that concerns.
    package let database: String?
    package let key: String?
    package let refreshingProcess: Int32?

    package init(
        token: StoredTokenReport, credentials: ProfileCredentials?, tokens: TokenSet, database: String? = nil,
        key: String? = nil, holder: Int32?
    ) {
        self.token = token
        tokenType = tokens.tokenType.name
        received = Timestamp(microseconds: tokens.receivedAt).rfc3339
        refreshTokenExpires = tokens.refreshTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        hasIDToken = tokens.idToken != nil
        let settings = credentials?.settings
        grant = settings?.grant.rawValue
        authenticationMethod = settings?.authenticationMethod.rawValue
        requestedScope = settings?.scopes
        resources = settings?.resources ?? []
        endpoints = (settings?.endpoints ?? [:]).reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
        isBoundToKey = credentials?.proofKey != nil
        boundCertificate = tokens.certificateThumbprint
        self.database = database
        self.key = key
        refreshingProcess = holder
    }

    /// The report for a person: labels and values.
    package var lines: [(String, String)] {
        var lines = [
            ("name", token.name), ("state", token.state), ("issuer", token.issuer), ("client", token.clientID),
            ("account", token.account), ("user", token.user ?? ""), ("scope", token.scope ?? requestedScope ?? ""),
            ("type", tokenType),
            ("received", received), ("expires", token.expires ?? "unknown"),
            (
                "refresh token",
                token.hasRefreshToken ? refreshTokenExpires.map { "expires \($0)" } ?? "kept" : "none"
            ),
            ("granted until", token.grantExpires ?? ""),
            ("ID token", hasIDToken ? "kept" : "none"), ("from", grant ?? "another tool"),
            ("client authentication", authenticationMethod ?? ""), ("resources", resources.joined(separator: " ")),
            ("bound to a key", isBoundToKey ? "yes" : "no"), ("bound to the certificate", boundCertificate ?? ""),
        ]
        lines += endpoints.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        lines += [("kept in", database ?? ""), ("sealed under", key ?? "")]
        if let refreshingProcess { lines.append(("being refreshed by process", "\(refreshingProcess)")) }
        return lines.filter { !$0.1.isEmpty }
    }
}

/// An access token and what its user has to know.
package struct AccessTokenReport: Codable {
    package let accessToken: String
    package let tokenType: String
    package let expires: String?
    /// The value of the `DPoP` field for the request that was named, where the token is bound to a key.
    package let proof: String?

    package init(_ tokens: TokenSet, token: String, proof: String? = nil) {
        accessToken = token
        tokenType = tokens.tokenType.name
        expires = tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        self.proof = proof
    }
}

/// An ID token and when it ends.
package struct IDTokenReport: Codable {
    package let idToken: String
    package let expires: String?

    /// - Parameter name: the name of the login.
    /// - Throws: `OperationError` if the stored token is not text.
    package init(_ token: ValidIDToken, of name: String) throws {
        guard let text = token.token.exposedText else {
            throw OperationError(.valueDamaged, "\(name): the stored ID token is not text")
        }
        idToken = text
        expires = token.lifetime.end.map { Timestamp(microseconds: $0).rfc3339 }
    }
}

/// Whether a running service is locked, in JSON.
package struct AgentReport: Codable, Sendable {
    package let isLocked: Bool

    package init(isLocked: Bool) {
        self.isLocked = isLocked
    }
}

/// Which tokens were ended at the server, in JSON.
package struct RevocationReport: Codable {
    package let name: String
    package let revoked: [String]
    package let isRemoved: Bool
    /// Why the server did not end them; only where it did not.
    package let problem: String?

    package init(name: String, revoked: [TokenKind], isRemoved: Bool, problem: String? = nil) {
        self.name = name
        self.revoked = revoked.map(\.rawValue)
        self.isRemoved = isRemoved
        self.problem = problem
    }
}

/// A profile that is gone, in JSON.
package struct TokenRemoval: Codable {
    package let removed: String

    package init(removed: String) {
        self.removed = removed
    }
}
