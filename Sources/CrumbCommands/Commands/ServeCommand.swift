import ArgumentParser
import OAuth2
import SessionOperations
package import SessionStore

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the HTTP service, and manage its access tokens.",
        subcommands: [ServeRunCommand.self, ServeTokenCommand.self, ServeRefreshCommand.self],
        defaultSubcommand: ServeRunCommand.self)
}

struct ServeRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the service until it is stopped.",
        discussion: """
            By default it listens on a Unix-domain socket that only you can use. Over TCP, every request needs an access \
            token; an address that other machines can reach needs TLS too. Settings can come from a file (--config) and \
            from the environment (CRUMB_...); docs/serving.md lists them.
            """)

    @Option(help: "The database file. Default: CRUMB_DATABASE, else crumb/crumb.sqlite in your data folder.")
    var database: String?

    @Option(help: "The Unix-domain socket to listen on. Default: crumb/crumb.sock in XDG_RUNTIME_DIR.")
    var socket: String?

    @Option(help: "The address to listen on: HOST:PORT, [ADDRESS]:PORT, or :PORT for 127.0.0.1. Repeatable.")
    var listen: [String] = []

    @Option(help: "The file with settings, in JSON.")
    var config: String?

    @Option(name: .customLong("host"), help: "A host name that requests over TCP may use. Repeatable.")
    var hosts: [String] = []

    @Option(help: "The URL of the service behind a proxy, such as https://crumb.example.")
    var publicURL: String?

    @Option(help: "The certificate chain for TLS, in PEM.")
    var certificate: String?

    @Option(help: "The certificate's private key, in PEM.")
    var privateKey: String?

    @Option(help: "The file with your access token for TCP. Default: the name of the database with .token appended.")
    var tokenFile: String?

    @Option(help: "The audit log: who read which secret, without the secret.")
    var auditFile: String?

    @Option(help: "The level of the log: trace, debug, info, notice, warning, error or critical.")
    var logLevel: String?

    @OptionGroup var network: NetworkOptions

    func run() throws {
        SecretVariable.clearEnvironment()
        do {
            let network = try Network.required()
            let order = try order()
            try Blocking.run { try await network.serve(order) }
        } catch let problem as CommandFailure {
            Console(isQuiet: false).error(problem.message)
            throw problem.failure.exitCode
        }
    }

    private func order() throws -> ServiceOrder {
        let single = [
            "database": database, "socket": socket, "public.url": publicURL, "tls.certificate": certificate,
            "tls.privateKey": privateKey, "tokenFile": tokenFile, "audit.file": auditFile, "log.level": logLevel,
        ]
        var settings = single.compactMapValues { $0.map { [$0] } }
        if !listen.isEmpty { settings["listen"] = listen }
        if !hosts.isEmpty { settings["hosts"] = hosts }
        let locations = Locations()
        return ServiceOrder(
            settings: settings, config: config, keys: try keys(locations),
            defaultDatabase: try? locations.defaultDatabase())
    }

    /// Where the key comes from. No user is present to type a passphrase.
    private func keys(_ locations: Locations) throws -> KeySource {
        let file = try locations.keyFile()
        do {
            if let keys = try KeyLocation.environmentKeys.get() { return keys }
        } catch let error as SessionStoreError {
            throw CommandFailure(.serviceNotStarted, error.commandDescription)
        }
        return .file(KeyFile(file, passphrase: locations.passphraseFile().map { .file($0) }))
    }
}

/// The parameters of a running service.
package struct ServiceOrder: Sendable {
    /// The settings that options give.
    package let settings: [String: [String]]
    /// The file with further settings.
    package let config: String?
    package let keys: KeySource
    /// The database if no setting names one; `nil` if no folder for it is known.
    package let defaultDatabase: String?
}

struct ServeRefreshCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Choose whether the service renews the tokens of a login before they expire.")

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the login, as 'crumb token list' shows it.")
    var name: String

    @Flag(help: "Stop renewing them ahead of time.")
    var off = false

    func execute(_ console: Console) throws {
        guard let store = try database.openAnywhere(creating: false, now: console.now)?.tokens else {
            throw CommandFailure(.tokenNotFound, "\(name): there is no token with this name")
        }
        guard try store.changeSettings(of: name, { $0.refreshesAhead = off ? nil : true }) else {
            throw CommandFailure(
                .tokenSettingsInvalid,
                "\(name): the token endpoint is unknown, so its tokens cannot be renewed; log in or import it again")
        }
        try console.report(
            RefreshAheadReport(name: name, refreshesAhead: !off),
            note: off
                ? "the service no longer renews '\(name)' ahead of time"
                : "the service renews '\(name)' before its tokens expire")
    }
}

private struct RefreshAheadReport: Encodable {
    let name: String
    let refreshesAhead: Bool
}
