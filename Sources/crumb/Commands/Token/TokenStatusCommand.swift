import ArgumentParser
import CookieModel
import OAuth2
import SessionStore

struct TokenStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what is kept of a login, and where, but no token.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name that the tokens are kept under.")
    var name: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let access = try TokenAccess(database, for: name, now: now)
        let stored = try access.store.get(name)
        let status = TokenStatus(
            token: StoredTokenReport(stored, now: now), credentials: try access.store.credentials(name),
            tokens: stored.tokens, database: try database.path(), key: try KeyLocation().name(),
            holder: try access.store.lease(name, now: now)?.process)
        if output.json {
            try console.writeJSON(status)
        } else {
            for (label, value) in status.lines { try console.writeLine("\(label): \(value)") }
        }
    }
}

/// A profile in full, but for its secrets.
private struct TokenStatus: Encodable {
    let token: StoredTokenReport
    let tokenType: String
    let received: String
    let refreshTokenExpires: String?
    let hasIDToken: Bool
    let grant: String?
    let authenticationMethod: String?
    let requestedScope: String?
    let resources: [String]
    let endpoints: [String: String]
    let isBoundToKey: Bool
    let database: String
    let key: String
    let refreshingProcess: Int32?

    init(
        token: StoredTokenReport, credentials: ProfileCredentials?, tokens: TokenSet, database: String, key: String,
        holder: Int32?
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
        self.database = database
        self.key = key
        refreshingProcess = holder
    }

    var lines: [(String, String)] {
        var lines = [
            ("name", token.name), ("state", token.state), ("issuer", token.issuer), ("client", token.clientID),
            ("account", token.account), ("scope", token.scope ?? requestedScope ?? ""), ("type", tokenType),
            ("received", received), ("expires", token.expires ?? "unknown"),
            (
                "refresh token",
                token.hasRefreshToken ? refreshTokenExpires.map { "expires \($0)" } ?? "kept" : "none"
            ),
            ("ID token", hasIDToken ? "kept" : "none"), ("from", grant ?? "another tool"),
            ("client authentication", authenticationMethod ?? ""), ("resources", resources.joined(separator: " ")),
            ("bound to a key", isBoundToKey ? "yes" : "no"),
        ]
        lines += endpoints.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        lines += [("kept in", database), ("sealed under", key)]
        if let refreshingProcess { lines.append(("being refreshed by process", "\(refreshingProcess)")) }
        return lines.filter { !$0.1.isEmpty }
    }
}
