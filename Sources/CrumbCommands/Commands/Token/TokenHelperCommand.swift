import ArgumentParser
import WebPrimitives

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
            login: try LoginArgument.resolve(place.login, in: database, clock: console.clock),
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
        guard (1...255).contains(host.utf8.count), host.utf8.allSatisfy(CredentialPlaceOptions.isInHost) else {
            throw ValidationError("--host: write only a host, such as git.example or 127.0.0.1:5000.")
        }
        guard username.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ValidationError("--username: no blanks, no control characters.")
        }
    }

    private static func isInHost(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-.:[]".utf8.contains(byte)
    }
}
