import CookieModel
package import OAuth2
import SessionStore

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
