import ArgumentParser
import OAuth2
import SessionOperations
import SessionStore

struct ServeTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Create, list and revoke access tokens for the service.",
        subcommands: [ServeTokenCreateCommand.self, ServeTokenListCommand.self, ServeTokenRevokeCommand.self])
}

struct ServeTokenCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an access token for the service, and print it once.",
        discussion: """
            The database stores only a hash of it. The token allows what the flags say, for the jars that you name. \
            Without --jar it is for all jars, future ones too, and for everything that belongs to no jar.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the access token, for the audit log.")
    var name: String

    @Option(
        name: [.customShort("j"), .customLong("jar")],
        help: "A jar that the token is for. Repeatable. Default: all jars.")
    var jars: [String] = []

    @Flag(help: "Allow reading names, flags, lifetimes and decisions, but no values.")
    var read = false

    @Flag(help: "Allow changes.")
    var write = false

    @Flag(help: "Allow reading values, Cookie fields, scripts, exports and tokens.")
    var secrets = false

    @Option(help: "How long the token is valid, such as 30d; units are s, m, h and d. Default: until it is revoked.")
    var expires: String?

    func execute(_ console: Console) throws {
        let flags = [(AccessVerb.read, read), (.write, write), (.secrets, secrets)]
        let verbs = Set(flags.filter(\.1).map(\.0))
        guard !verbs.isEmpty else {
            throw ValidationError("Choose what the token allows: --read, --write, --secrets, or several of them.")
        }
        let now = console.now
        let expiry = try expires.map { now.advanced(bySeconds: try durationInSeconds($0)) }
        var generator = SystemRandomNumberGenerator()
        guard let store = try database.openAnywhere(creating: true, now: now) else { return }
        let token = try store.serviceTokens.create(
            named: name, grant: AccessGrant(verbs: verbs, jars: jars.isEmpty ? .all : .named(Set(jars))),
            expiry: expiry, now: now, using: &generator)
        try console.report(["name": name, "token": String(decoding: token.exposedBytes, as: UTF8.self)]) {
            try console.write(token.exposedBytes + [UInt8(ascii: "\n")])
        }
    }
}

struct ServeTokenListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the access tokens for the service. Never shows the tokens themselves.",
        aliases: ["show", "ls"])

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Include tokens that were revoked or have expired.")
    var all = false

    func execute(_ console: Console) throws {
        let now = console.now
        let tokens = try database.openAnywhere(creating: false, now: now)?.serviceTokens.all() ?? []
        let reports = tokens.filter { all || $0.isValid(at: now) }.map { ServiceTokenReport($0, now: now) }
        try console.writeTable(
            ["NAME", "STATE", "VERBS", "LAST USED", "EXPIRES", "JARS"], of: reports,
            none: "no access tokens; 'crumb serve token create NAME' creates one", row: \.row)
    }
}

struct ServeTokenRevokeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an access token for the service at once.",
        aliases: ["remove", "rm", "delete"])

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the access token.")
    var name: String

    func execute(_ console: Console) throws {
        let now = console.now
        guard try database.openAnywhere(creating: false, now: now)?.serviceTokens.revoke(named: name, now: now) == true
        else {
            throw CommandFailure(
                .tokenNotFound,
                "\(name): there is no access token with this name; 'crumb serve token list' lists the access tokens")
        }
        try console.report(
            ["revoked": name], note: "revoked access token '\(name)'; requests with it are rejected from now on")
    }
}

/// The properties of an access token of the service.
struct ServiceTokenReport: Encodable {
    let name: String
    /// `valid`, `expired` or `revoked`.
    let state: String
    let verbs: [String]
    /// `nil` for all.
    let jars: [String]?
    let created: String
    let expires: String?
    let revoked: String?
    let lastUsed: String?

    init(_ token: ServiceToken, now: Timestamp) {
        name = token.name
        state = token.isValid(at: now) ? "valid" : token.revocation == nil ? "expired" : "revoked"
        verbs = AccessVerb.allCases.filter(token.grant.verbs.contains).map(\.rawValue)
        jars = if case .named(let names) = token.grant.jars { names.sorted() } else { nil }
        created = token.creation.rfc3339
        expires = token.expiry?.rfc3339
        revoked = token.revocation?.rfc3339
        lastUsed = token.lastUse?.rfc3339
    }

    /// The cells of its row in a table.
    var row: [String] {
        [
            shown(name), state, verbs.joined(separator: ","), lastUsed ?? "never", expires ?? "never",
            jars.map { $0.map(shown).joined(separator: ", ") } ?? "all",
        ]
    }
}
