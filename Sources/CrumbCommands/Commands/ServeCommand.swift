import ArgumentParser
import CookieModel
import Foundation
import OAuth2
import SessionOperations
import SessionStore

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
        do {
            try execute()
        } catch let problem as Problem {
            Console(isQuiet: false).error(problem.message)
            throw problem.failure.exitCode
        }
    }

    /// Becomes the program that speaks HTTP. The environment goes with it: a key in there is for the service.
    private func execute() throws {
        let program = try NetworkProgram().path
        let arguments = try [program, "serve"] + given() + defaults()
        let pointers = arguments.map { strdup($0) } + [nil]
        execv(program, pointers)
        throw Problem(.networkProgramNotFound, "\(program): cannot be run: \(String(cString: strerror(errno)))")
    }

    /// The options as they were given.
    private func given() -> [String] {
        let single = [
            ("--database", database), ("--socket", socket), ("--config", config), ("--public-url", publicURL),
            ("--certificate", certificate),
            ("--private-key", privateKey), ("--token-file", tokenFile), ("--audit-file", auditFile),
            ("--log-level", logLevel),
        ]
        return single.flatMap { name, value in value.map { [name, $0] } ?? [] }
            + listen.flatMap { ["--listen", $0] } + hosts.flatMap { ["--host", $0] }
    }

    /// Where files lie that nothing is said of: this program knows.
    private func defaults() throws -> [String] {
        let locations = Locations()
        var arguments = ["--key-file", try locations.keyFile()]
        if let path = try? locations.defaultDatabase() { arguments += ["--default-database", path] }
        if let path = locations.passphraseFile() { arguments += ["--passphrase-file", path] }
        return arguments
    }
}

struct ServeRefreshCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Choose whether the service renews the tokens of a login before they expire.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the login, as 'crumb token list' shows it.")
    var name: String

    @Flag(help: "Stop renewing them ahead of time.")
    var off = false

    func execute(_ console: Console) throws {
        guard let store = try database.openExisting(now: console.now)?.tokens else {
            throw Problem(.tokenNotFound, "\(name): there is no token with this name")
        }
        guard try store.changeSettings(of: name, { $0.refreshesAhead = off ? nil : true }) else {
            throw Problem(
                .tokenSettingsInvalid,
                "\(name): the token endpoint is unknown, so its tokens cannot be renewed; log in or import it again")
        }
        if output.json {
            try console.writeJSON(RefreshAheadReport(name: name, refreshesAhead: !off))
        } else {
            console.note(
                off
                    ? "the service no longer renews '\(name)' ahead of time"
                    : "the service renews '\(name)' before its tokens expire")
        }
    }
}

private struct RefreshAheadReport: Encodable {
    let name: String
    let refreshesAhead: Bool
}
