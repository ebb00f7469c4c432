import ArgumentParser
import CookieModel
import Foundation
import OAuth2
import SessionStore

struct TokenExportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a valid token in the format of another program.",
        discussion: """
            env             variables for a shell: eval "$(crumb token export --format env work)"
            json            all tokens, as 'crumb token import' reads them
            kubernetes      an ExecCredential for kubectl's exec plugin
            git-credential  what git asks a credential helper for:
                            git config credential.helper \
                                '!crumb token export --format git-credential --host git.example work'
            netrc           a line for curl's and others' netrc file; needs --host
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case env
        case json
        case kubernetes
        case gitCredential = "git-credential"
        case netrc
    }

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var freshness: FreshnessOptions

    @Option(help: "env, json, kubernetes, git-credential or netrc. (default: env; json with --json)")
    var format: Format?

    @Option(help: "The host that the token is for, in netrc and for git.")
    var host: String?

    @Option(help: "The user name for git and netrc.")
    var username = "oauth2"

    @Option(help: "The prefix of the variables' names.")
    var prefix = ""

    @Argument(help: "The name of the login.")
    var name: String

    @Argument(help: ArgumentHelp("The operation that git asks for.", visibility: .hidden))
    var operation: String?

    func validate() throws {
        if let format, format == .netrc || format == .gitCredential, host == nil {
            throw ValidationError("--format \(format.rawValue): give --host.")
        }
        for text in [host, username, prefix] {
            guard text?.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ?? true else {
                throw ValidationError("--host, --username and --prefix: no blanks, no control characters.")
            }
        }
        guard prefix.allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw ValidationError("--prefix: use letters, digits and underscores.")
        }
    }

    func execute(_ console: Console) throws {
        let format = format ?? (output.json ? .json : .env)
        if format == .gitCredential, try !answersGit() { return }
        let now = Timestamp.now
        let stored = try TokenAccess(database, for: name, now: now).token(
            name, skew: freshness.skew, timeout: freshness.refresh.refreshTimeout, now: now)
        let token = try stored.exposedAccessToken
        if stored.tokens.tokenType == .dpop {
            console.complain(
                "\(name): the token is bound to a key that stays here, and is of no use without it; for single requests, "
                    + "'crumb token header --url' makes the proof")
        }
        let expiry = stored.tokens.accessTokenExpiry.map { Timestamp(microseconds: $0) }
        switch format {
        case .env:
            var variables = [("ACCESS_TOKEN", token), ("TOKEN_TYPE", stored.tokens.tokenType.name)]
            if let expiry { variables.append(("EXPIRES_AT", expiry.rfc3339)) }
            for (name, value) in variables {
                let quoted = value.replacingOccurrences(of: "'", with: #"'\''"#)
                try console.writeLine("export \(prefix)\(name)='\(quoted)'")
            }
        case .json:
            try console.writeJSON(TokenReplyReport(stored.tokens, token: token))
        case .kubernetes:
            try console.writeJSON(ExecCredential(token: token, expiry: expiry))
        case .gitCredential:
            try console.writeLine("username=\(username)")
            try console.writeLine("password=\(token)")
            if let expiry { try console.writeLine("password_expiry_utc=\(expiry.seconds)") }
        case .netrc:
            try console.writeLine("machine \(host ?? "") login \(username) password \(token)")
        }
    }

    /// Whether git asks for a credential that this is: over TLS or on this machine, and of the host that was named.
    private func answersGit() throws -> Bool {
        guard operation ?? "get" == "get" else { return false }
        let input = String(decoding: try InputFile("-").contents(limit: 1 << 16), as: UTF8.self)
        var question: [Substring: Substring] = [:]
        for line in input.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { question[parts[0]] = parts[1] }
        }
        guard let asked = question["host"], String(asked) == host else { return false }
        let isLocal = ["localhost", "127.0.0.1"].contains(asked.prefix { $0 != ":" })
        return question["protocol"] == "https" || question["protocol"] == "http" && isLocal
    }
}

/// All tokens as a token endpoint's reply has them, with the absolute expiry beside.
private struct TokenReplyReport: Encodable {
    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case scope
        case expiresAt = "expires_at"
        case refreshTokenExpiresAt = "refresh_token_expires_at"
        case authorizationExpiresAt = "authorization_expires_at"
    }

    let accessToken: String
    let tokenType: String
    let refreshToken: String?
    let idToken: String?
    let scope: String?
    let expiresAt: String?
    let refreshTokenExpiresAt: String?
    /// The end of the grant, under the name by which ``TokenImport`` knows it.
    let authorizationExpiresAt: String?

    init(_ tokens: TokenSet, token: String) {
        accessToken = token
        tokenType = tokens.tokenType.name
        refreshToken = tokens.refreshToken?.exposedText
        idToken = tokens.idToken?.exposedText
        scope = tokens.scopes?.description
        expiresAt = tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        refreshTokenExpiresAt = tokens.refreshTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        authorizationExpiresAt = tokens.grantExpiry.map { Timestamp(microseconds: $0).rfc3339 }
    }
}

/// What kubectl reads from an exec plugin (client.authentication.k8s.io/v1).
private struct ExecCredential: Encodable {
    struct Status: Encodable {
        let token: String
        let expirationTimestamp: String?
    }

    let apiVersion = "client.authentication.k8s.io/v1"
    let kind = "ExecCredential"
    let status: Status

    init(token: String, expiry: Timestamp?) {
        // kubectl takes whole seconds.
        status = Status(
            token: token, expirationTimestamp: expiry.map { Timestamp(seconds: $0.seconds).rfc3339 })
    }
}
