package import CookieModel
package import OAuth2
import OAuth2Login
package import SessionStore

extension StoredTokenReport {
    package init(_ stored: StoredToken, now: Timestamp) {
        let state = stored.refusal == nil ? stored.tokens.validity(at: now).rawValue : "login-required"
        self.init(
            name: stored.profile.name, issuer: stored.profile.id.issuer, clientID: stored.profile.id.clientID,
            account: stored.profile.id.account,
            user: LoggedInUser(account: stored.profile.id.account, stored.tokens).name, state: state,
            scope: stored.tokens.scopes?.description,
            expires: stored.tokens.accessTokenExpiry?.rfc3339,
            hasRefreshToken: stored.tokens.refreshToken != nil,
            grantExpires: stored.tokens.grantExpiry?.rfc3339,
            idTokenProblem: stored.idTokenRefusal?.description)
    }

    /// The report for a person.
    package var text: String {
        let expiry = expires.map { "expires \($0)" } ?? "expiry unknown"
        return "\(name): \(state == "unknown" && expires == nil ? expiry : "\(state), \(expiry)")"
            + (user.map { ", user \($0)" } ?? "")
            + (hasRefreshToken ? ", with a refresh token" : "")
            + (grantExpires.map { ", granted until \($0)" } ?? "")
    }
}

extension StoredTokenList {
    package init(_ all: [Result<StoredToken, SessionStoreError>], now: Timestamp) {
        var tokens: [StoredTokenReport] = []
        var problems: [String] = []
        for result in all {
            switch result {
            case .success(let stored): tokens.append(StoredTokenReport(stored, now: now))
            case .failure(let error): problems.append(error.commandDescription)
            }
        }
        self.init(tokens: tokens, unreadable: problems.count, problems: problems.isEmpty ? nil : problems)
    }
}

extension TokenStatusReport {
    package init(
        token: StoredTokenReport, credentials: ProfileCredentials?, tokens: TokenSet, database: String? = nil,
        key: String? = nil, holder: Int32?
    ) {
        let settings = credentials?.settings
        self.init(
            token: token, tokenType: tokens.tokenType.name,
            received: tokens.receivedAt.rfc3339,
            refreshTokenExpires: tokens.refreshTokenExpiry?.rfc3339,
            hasIDToken: tokens.idToken != nil, grant: settings?.grant.rawValue,
            authenticationMethod: settings?.authenticationMethod.rawValue, requestedScope: settings?.scopes,
            resources: settings?.resources ?? [],
            endpoints: (settings?.endpoints ?? [:]).reduce(into: [:]) { $0[$1.key.rawValue] = $1.value },
            isBoundToKey: credentials?.proofKey != nil, boundCertificate: tokens.certificateThumbprint,
            database: database, key: key, refreshingProcess: holder)
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
                token.hasRefreshToken ? refreshTokenExpires.map { "expires \($0)" } ?? "stored" : "none"
            ),
            ("granted until", token.grantExpires ?? ""),
            ("ID token", hasIDToken ? "stored" : "none"), ("from", grant ?? "another tool"),
            ("client authentication", authenticationMethod ?? ""), ("resources", resources.joined(separator: " ")),
            ("bound to a key", isBoundToKey ? "yes" : "no"), ("bound to the certificate", boundCertificate ?? ""),
        ]
        lines += endpoints.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        lines += [("stored in", database ?? ""), ("sealed under", key ?? "")]
        if let refreshingProcess { lines.append(("being refreshed by process", "\(refreshingProcess)")) }
        return lines.filter { !$0.1.isEmpty }
    }
}

extension AccessTokenReport {
    /// - Parameter stored: The login, with the time at which its server rejected it.
    package init(_ tokens: TokenSet, of stored: StoredToken, token: String, proof: String? = nil) {
        self.init(
            accessToken: token, tokenType: tokens.tokenType.name,
            expires: tokens.accessTokenExpiry?.rfc3339, proof: proof, loginRequired: stored.refusal == nil ? nil : true)
    }
}

extension IDTokenReport {
    /// - Parameter name: the name of the login.
    /// - Throws: `OperationError` if the stored token is not text.
    package init(_ token: ValidIDToken, of name: String) throws {
        guard let text = token.token.exposedText else {
            throw OperationError(.valueDamaged, "\(name): the stored ID token is not text")
        }
        self.init(idToken: text, expires: token.lifetime.end?.rfc3339)
    }
}

extension RevocationReport {
    package init(name: String, revoked: [TokenKind], isRemoved: Bool, problem: String? = nil) {
        self.init(name: name, revoked: revoked.map(\.rawValue), isRemoved: isRemoved, problem: problem)
    }
}
