import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenExportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a valid token in the format of another program.",
        discussion: """
            env             variables for a shell: eval "$(crumb token export --format env work)"
            json            all tokens, as 'crumb token import' reads them
            kubernetes      an ExecCredential for kubectl, with the ID token, or the access token with
                            --use-access-token; in the version that KUBERNETES_EXEC_INFO asks for. If that allows
                            questions to the user, logs in again when the login has ended.
            git-credential  the answer to a question of git, which it reads on standard input, as a credential helper:
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

    @Flag(help: "Give kubectl the access token instead of the ID token.")
    var useAccessToken = false

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String

    @Argument(help: ArgumentHelp("The operation that git asks for.", visibility: .hidden))
    var operation: String?

    func validate() throws {
        if let format, format == .netrc || format == .gitCredential, host == nil {
            throw ValidationError("--format \(format.rawValue): add --host.")
        }
        guard !useAccessToken || format == .kubernetes else {
            throw ValidationError("--use-access-token: only for --format kubernetes.")
        }
        for text in [host, username, prefix] {
            guard text?.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ?? true else {
                throw ValidationError("--host, --username and --prefix: no blanks, no control characters.")
            }
        }
        guard host.map(TokenExportCommand.isHost) ?? true else {
            throw ValidationError("--host '\(host ?? "")': write a host, with its port if it has one.")
        }
        guard prefix.allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw ValidationError("--prefix: use letters, digits and underscores.")
        }
    }

    /// Whether a text is a host, or a host and a port.
    private static func isHost(_ text: String) -> Bool {
        !text.contains { "/?#@\\".contains($0) } && (try? RequestURL("https://\(text)/")) != nil
    }

    /// git's request comes on standard input, before it is known whether the token is due.
    var needsNetwork: Bool { format == .gitCredential || database.mayNotBeginAnew }

    func execute(_ console: Console) throws {
        let format = format ?? (output.json ? .json : .env)
        switch format {
        case .json: try exportAll(console)
        case .kubernetes: try exportToKubernetes(console)
        case .gitCredential:
            let helper = CredentialHelper(
                tokens: try freshness.tokens(database, console), login: name,
                host: host ?? "", username: username, skew: freshness.skew, console: console)
            try helper.answerGit(operation ?? "get")
        default: try exportAccessToken(as: format, console)
        }
    }

    private func exportAll(_ console: Console) throws {
        guard !database.asksService else {
            throw ValidationError(
                "--format json: only this format needs the database file, since a service never returns a refresh token. "
                    + "Name the file with --database, or choose another format.")
        }
        let store = try database.tokenStore(with: name, now: console.now)
        var tokens = try store.get(name).tokens
        if tokens.validity(at: console.now, skew: .seconds(freshness.skew)).isDue {
            let access = try TokenAccess(store, refreshTimeout: freshness.refresh.seconds(), clock: console.clock)
            tokens = try Blocking.run { [name, skew = freshness.skew] in
                try await access.refresher.token(name, skew: .seconds(skew)).tokens
            }
        }
        warn(ofBinding: tokens.tokenType, console)
        try console.writeJSON(
            TokenReplyReport(
                accessToken: try tokens.exposedAccessToken(of: name), tokenType: tokens.tokenType.name,
                refreshToken: tokens.refreshToken?.exposedText, idToken: tokens.idToken?.exposedText,
                scope: tokens.scopes?.description, expiresAt: tokens.accessTokenExpiry?.rfc3339,
                refreshTokenExpiresAt: tokens.refreshTokenExpiry?.rfc3339,
                authorizationExpiresAt: tokens.grantExpiry?.rfc3339))
    }

    private func exportAccessToken(as format: Format, _ console: Console) throws {
        let report = try accessToken(console)
        switch format {
        case .netrc:
            try console.writeLine("machine \(host ?? "") login \(username) password \(report.accessToken)")
        default:
            var variables = [("ACCESS_TOKEN", report.accessToken), ("TOKEN_TYPE", report.tokenType)]
            if let expires = report.expires { variables.append(("EXPIRES_AT", expires)) }
            for (name, value) in variables {
                let quoted = value.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined()
                try console.write("export \(prefix)\(name)='\(quoted)'\n".utf8)
            }
        }
    }

    private func exportToKubernetes(_ console: Console) throws {
        let request = try ExecCredentialRequest()
        func credential() throws -> (token: String, expires: String?) {
            if useAccessToken {
                let report = try accessToken(console)
                return (report.accessToken, report.expires)
            }
            let report = try freshness.tokens(database, console).idToken(of: name, skew: freshness.skew)
            return (report.idToken, report.expires)
        }
        let (token, expires) =
            if request.isInteractive {
                try TerminalLogin.loggingInIfRequired(name, database, console, credential)
            } else {
                try credential()
            }
        try console.writeJSON(request.answer(token: token, expires: expires, skew: freshness.skew, now: console.now))
    }

    private func accessToken(_ console: Console) throws -> AccessTokenReport {
        let report = try freshness.tokens(database, console).accessToken(
            of: name, AccessTokenDocument(skew: freshness.skew))
        warn(ofBinding: TokenType(report.tokenType), console)
        report.noteIfLast(of: name, console)
        return report
    }

    private func warn(ofBinding type: TokenType, _ console: Console) {
        guard type == .dpop else { return }
        console.error(
            "\(name): the token is bound to a key that stays here and is useless without it; for single "
                + "requests, 'crumb token header --url' creates the proof")
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
}
