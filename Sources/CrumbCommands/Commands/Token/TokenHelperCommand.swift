import ArgumentParser
import OAuth2
import SessionOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct TokenHelperCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "helper",
        abstract: "Answer git, docker, pip or npm as their credential helper, with a login's access token.",
        discussion: """
            'crumb token setup' writes the configuration that runs this. The token goes to one host only, and never over \
            plain HTTP to another machine. If the program erases it, the next request gets a renewed one.

            git     get, store and erase, as git's helper
            docker  get, store, erase and list, as docker-credential-…
            pip     get URL USER, as the program keyring, which pip and uv run
            npm     the value of an Authorization field, as pnpm's tokenHelper; for npm use 'crumb token exec'
            """)

    enum Tool: String, CaseIterable, ExpressibleByArgument {
        case git
        case docker
        case pip
        case npm
    }

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var freshness: FreshnessOptions
    @OptionGroup var place: CredentialPlaceOptions

    @Argument(help: "The program that asks: git, docker, pip or npm.")
    var tool: Tool

    @Argument(help: "The operation that the program asks for.")
    var words: [String] = []

    /// The program's request comes on standard input, before it is known whether the token is due.
    var needsNetwork: Bool { tool != .npm || database.mayNotBeginAnew }

    func execute(_ console: Console) throws {
        let helper = CredentialHelper(
            tokens: try freshness.tokens(database, console),
            login: try LoginArgument.resolve(
                place.login, for: "helper \(tool.rawValue) --login NAME", in: database, clock: console.clock),
            host: place.host, username: place.username, skew: freshness.skew, console: console)
        switch tool {
        case .git: try helper.answerGit(words.first ?? "get")
        case .docker: try helper.answerDocker(words.first ?? "get")
        case .pip: try helper.answerKeyring(words)
        case .npm: try helper.answerNPM()
        }
    }
}

/// Which login a program gets, and for which host.
struct CredentialPlaceOptions: ParsableArguments {
    @Option(help: "The host, with its port if it has one, that the token is for.")
    var host: String

    @Option(
        help: "The name of the login. Default: CRUMB_LOGIN, else the one of 'crumb token switch', else the only one.")
    var login: String?

    @Option(help: "The user name that the program gets.")
    var username = "oauth2"

    func validate() throws {
        try CredentialPlaceOptions.check(host: host, username: username)
    }

    static func check(host: String, username: String) throws {
        guard (1...255).contains(host.utf8.count),
            host.utf8.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || "-.:[]".utf8.contains($0) })
        else {
            throw ValidationError("--host: write only a host, such as git.example or 127.0.0.1:5000.")
        }
        guard username.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ValidationError("--username: no blanks, no control characters.")
        }
    }
}

/// Gives the access token of a login to a program that asks for a password for one host, in that program's protocol.
struct CredentialHelper {
    /// The most that a program may ask with, in bytes.
    private static let limit = 1 << 16

    let tokens: TokenPlace
    /// The name of the login.
    let login: String
    /// The only host, with its port, that the token is for.
    let host: String
    let username: String
    let skew: Int
    let console: Console

    /// Whether a question is about this host, over TLS or on this machine.
    ///
    /// - Parameter scheme: `nil` if the question does not tell, as with a registry, which is then asked over TLS.
    func isFor(scheme: String?, host asked: String) -> Bool {
        guard asked.lowercased() == host.lowercased() else { return false }
        let isLocal = ["localhost", "127.0.0.1"].contains(asked.prefix { $0 != ":" })
        return scheme ?? "https" == "https" || scheme == "http" && isLocal
    }

    /// Whether a URL, or the host alone, is this host's.
    private func isFor(_ url: String) -> Bool {
        let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.last.map { $0.prefix { !"/?#".contains($0) } } ?? ""
        let authority = rest.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return isFor(scheme: parts.count == 2 ? parts[0].lowercased() : nil, host: String(authority))
    }

    private func token() throws -> AccessTokenReport {
        try tokens.accessToken(of: login, AccessTokenDocument(skew: skew))
    }

    /// Has the next question answered with a renewed token.
    ///
    /// - Parameter password: The token that was of no use; another one than the current one is left alone.
    private func invalidate(_ password: String?) throws {
        try tokens.invalidateAccessToken(password.map { Secret(Array($0.utf8)) }, of: login)
    }

    private func input() throws -> String {
        String(decoding: try InputFile("-").contents(limit: CredentialHelper.limit), as: UTF8.self)
    }

    // MARK: - git

    /// Answers git (gitcredentials(7)): lines of `name=value`. Operations that are not known are ignored, as git asks of
    /// its helpers.
    func answerGit(_ operation: String) throws {
        guard ["get", "erase"].contains(operation) else { return }
        var question: [Substring: String] = [:]
        for line in try input().split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { question[parts[0]] = String(parts[1]) }
        }
        guard let scheme = question["protocol"], let asked = question["host"], isFor(scheme: scheme, host: asked)
        else { return }
        // git erases a credential that a server has rejected. Without a password, it means all credentials of the host.
        guard operation == "get" else { return try invalidate(question["password"]) }
        let token = try token()
        try console.writeLine("username=\(username)")
        try console.writeLine("password=\(token.accessToken)")
        if let expiry = token.expires.flatMap({ Timestamp(rfc3339: $0.utf8) }) {
            try console.writeLine("password_expiry_utc=\(expiry.seconds)")
        }
    }

    // MARK: - docker

    private struct DockerCredential: Codable {
        enum CodingKeys: String, CodingKey {
            case server = "ServerURL"
            case username = "Username"
            case secret = "Secret"
        }

        let server: String
        let username: String
        let secret: String
    }

    /// Answers docker: a registry's URL or a credential on standard input, JSON on standard output.
    ///
    /// - Throws: `ExitCode` after a sentence on standard output, which is where docker reads errors.
    func answerDocker(_ operation: String) throws {
        switch operation {
        case "get":
            let server = String(try input().trimmingWhitespace)
            // docker knows these words, and goes on without a credential.
            guard isFor(server) else { try refuse("credentials not found in native keychain") }
            try console.writeJSON(DockerCredential(server: server, username: username, secret: try token().accessToken))
        case "list": try console.writeJSON([host: username])
        case "erase":
            if isFor(String(try input().trimmingWhitespace)) { try invalidate(nil) }
        case "store":
            // docker stores the credential that it has just got from here again.
            let given = try? JSONDecoder().decode(DockerCredential.self, from: Data(try input().utf8))
            guard let given, isFor(given.server), Secret(given.secret) == Secret(try token().accessToken) else {
                try refuse("crumb stores no passwords; '\(login)' is an OAuth2 login: use 'crumb token login'")
            }
        default: try refuse("unknown operation; use get, store, erase or list")
        }
    }

    private func refuse(_ sentence: String) throws -> Never {
        try console.writeLine(sentence)
        throw ExitCode(1)
    }

    // MARK: - pip and uv

    /// Answers pip and uv in place of the program `keyring`: `get URL USER` prints the password.
    ///
    /// - Throws: `ExitCode` if there is no password, as `keyring` does.
    func answerKeyring(_ words: [String]) throws {
        guard words.count == 3, isFor(words[1]), words[2] == username else { throw ExitCode(1) }
        switch words[0] {
        case "get": try console.writeLine(try token().accessToken)
        case "del": try invalidate(nil)
        // pip offers to store the credential that it has just got from here.
        case "set": _ = try input()
        default: throw ExitCode(1)
        }
    }

    // MARK: - npm

    /// Prints the value of an Authorization field, as pnpm's `tokenHelper` has to.
    func answerNPM() throws {
        for field in try token().exposedFields(of: login) where field.name == "Authorization" {
            try console.writeLine(field.value)
        }
    }
}
