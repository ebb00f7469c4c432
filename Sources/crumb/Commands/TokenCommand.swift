import ArgumentParser
import CookieModel
import OAuth2
import SessionStore

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Keep OAuth2 tokens, sealed, for when cookies cannot carry a login.",
        subcommands: [
            TokenImportCommand.self, TokenGetCommand.self, TokenListCommand.self, TokenRemoveCommand.self,
        ])
}

struct TokenImportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Store a token set under a name.",
        discussion: """
            Reads a token endpoint's JSON reply, or an access token alone on a line, from standard input or a file; \
            never from the command line, which others can see.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The file to read; '-' is standard input.")
    var file = "-"

    @Option(help: "The issuer that the tokens come from.")
    var issuer = ""

    @Option(help: "The client that they were issued to.")
    var clientID = ""

    @Option(help: "The account that they are for.")
    var account = ""

    @Argument(help: "The name to keep them under.")
    var name: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let input = InputFile(file)
        let bytes = try input.contents(limit: TokenResponse.maximumBodySize)
        let tokenSet: TokenSet
        do {
            tokenSet = try TokenImport.tokenSet(bytes, now: now.microseconds)
        } catch {
            throw Problem(.tokenInputInvalid, "\(input.name): \(error.description)")
        }
        let profile = Profile(
            id: ProfileID(issuer: issuer, clientID: clientID, account: account), name: name)
        try database.open(now: now).tokens.put(tokenSet, for: profile, now: now)
        let stored = StoredTokenReport(profile, tokenSet, now: now)
        if output.json { try console.writeJSON(stored) } else { console.note("stored \(stored.text)") }
    }
}

struct TokenGetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print an access token, for $(…).",
        discussion: "Exit status 41 and no output where the token has expired, 40 where there is none of that name.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name that the token is kept under.")
    var name: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        guard let store = try database.openExisting(now: now)?.tokens else {
            throw Problem(.tokenNotFound, "\(name): there is no token of this name; 'crumb token import' stores one")
        }
        let stored = try store.get(name)
        guard stored.tokens.validity(at: now.microseconds) != .expired else {
            throw Problem(.tokenExpired, "\(name): the access token has expired; log in again and import the new one")
        }
        guard let token = stored.tokens.accessToken.exposedText else {
            throw Problem(.valueDamaged, "\(name): the stored token is not text")
        }
        if output.json {
            try console.writeJSON(AccessTokenReport(stored.tokens, token: token))
        } else {
            try console.writeLine(token)
        }
    }
}

struct TokenListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the tokens that are kept, without showing them.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        var rows = [["NAME", "STATE", "EXPIRES", "REFRESH", "ISSUER", "ACCOUNT"]]
        var isDamaged = false
        for result in try database.openExisting(now: now)?.tokens.all() ?? [] {
            switch result {
            case .failure(let error):
                isDamaged = true
                console.complain(error.description)
            case .success(let stored):
                let report = StoredTokenReport(stored.profile, stored.tokens, now: now)
                if output.json { try console.writeJSON(report) }
                rows.append([
                    report.name, report.state, report.expires ?? "unknown", report.hasRefreshToken ? "yes" : "no",
                    report.issuer.isEmpty ? "-" : report.issuer, report.account.isEmpty ? "-" : report.account,
                ])
            }
        }
        if !output.json {
            if rows.count > 1 { try console.writeLine(Console.table(rows)) } else { console.note("no tokens") }
        }
        if isDamaged { throw ExitStatus.valueDamaged.exitCode }
    }
}

struct TokenRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Forget a token set.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name that it is kept under.")
    var name: String

    func execute(_ console: Console) throws {
        guard try database.openExisting(now: .now)?.tokens.remove(name) == true else {
            throw Problem(
                .tokenNotFound, "\(name): there is no token of this name; 'crumb token list' shows those there are")
        }
        console.note("removed \(name)")
    }
}

/// A token set without its tokens.
private struct StoredTokenReport: Encodable {
    let name: String
    let issuer: String
    let clientID: String
    let account: String
    let state: String
    let scope: String?
    let expires: String?
    let hasRefreshToken: Bool

    init(_ profile: Profile, _ tokens: TokenSet, now: Timestamp) {
        name = profile.name
        issuer = profile.id.issuer
        clientID = profile.id.clientID
        account = profile.id.account
        state = tokens.validity(at: now.microseconds).rawValue
        scope = tokens.scopes?.description
        expires = tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        hasRefreshToken = tokens.refreshToken != nil
    }

    var text: String {
        "\(name): \(state), \(expires.map { "expires \($0)" } ?? "expiry unknown")"
            + (hasRefreshToken ? ", with a refresh token" : "")
    }
}

private struct AccessTokenReport: Encodable {
    let accessToken: String
    let tokenType: String
    let expires: String?

    init(_ tokens: TokenSet, token: String) {
        accessToken = token
        tokenType = tokens.tokenType.name
        expires = tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
    }
}
