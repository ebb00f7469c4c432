import ArgumentParser
import CookieModel
import Foundation
import Logging
import NetworkHelper
import OAuth2
import SessionService
import SessionStore

struct RunServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service until it is told to stop. Use it through 'crumb serve'.",
        shouldDisplay: false)

    /// The exit status of a service that does not start; docs/exit-statuses.md lists it.
    private static let notStarted: Int32 = 54

    @Option var database: String?
    @Option var socket: String?
    @Option var listen: [String] = []
    @Option var config: String?
    @Option(name: .customLong("host")) var hosts: [String] = []
    @Option(name: .customLong("public-url")) var publicURL: String?
    @Option var certificate: String?
    @Option var privateKey: String?
    @Option var tokenFile: String?
    @Option var auditFile: String?
    @Option var logLevel: String?
    @Option var keyFile: String
    @Option var passphraseFile: String?
    @Option var defaultDatabase: String?

    func run() async throws {
        do {
            // First of all: the key is not for whoever can read this process's environment.
            let keys = try keys()
            try await serve(keys)
        } catch let error as ServiceStartError {
            try fail(error.description)
        } catch let error as SessionStoreError {
            try fail(error.description)
        }
    }

    private func serve(_ keys: KeySource) async throws {
        signal(SIGPIPE, SIG_IGN)
        let environment = ProcessInfo.processInfo.environment
        var settings = try ServiceConfiguration(arguments: arguments, environment: environment, file: config)
        guard let path = settings.database ?? defaultDatabase else {
            try fail("HOME is not set; name the database with --database")
        }
        if settings.socket == nil, settings.addresses.isEmpty {
            settings.socket = RunServiceCommand.socket(environment, beside: path)
        }
        // The file counts after the environment, in which the command line's options are.
        var network = environment
        network["CRUMB_PROXY"] = environment["CRUMB_PROXY"] ?? settings.proxy
        network["CRUMB_PROXY_CREDENTIALS_FILE"] = settings.proxyCredentialsFile
        network["CRUMB_CA_FILE"] = settings.authorityFile
        let clients = NetworkSettings(environment: network)
        do { try clients.check() } catch let error as NetworkSettingsError { try fail(error.reason) }
        if settings.tokenFile == nil { settings.tokenFile = path + ".token" }
        LoggingSystem.bootstrap { ServiceLogHandler(label: $0, now: { .now }) }
        var logger = Logger(label: "crumb")
        logger.logLevel = settings.logLevel
        let store = try SessionDatabase(
            path: path, keys: keys, durability: settings.isFullyDurable ? .full : .normal, now: .now)
        let connections = NetworkClients(clients)
        let server = SessionServer(
            database: store, configuration: settings, transport: ServiceTransport(clients: connections),
            logger: logger, now: { .now })
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await server.run()) } catch { outcome = .failure(error) }
        await connections.shutDown()
        try outcome.get()
    }

    private var arguments: [String: [String]] {
        let single = [
            "database": database, "socket": socket, "public.url": publicURL, "tls.certificate": certificate,
            "tls.privateKey": privateKey,
            "tokenFile": tokenFile, "audit.file": auditFile, "log.level": logLevel,
        ]
        var arguments = single.compactMapValues { $0.map { [$0] } }
        if !listen.isEmpty { arguments["listen"] = listen }
        if !hosts.isEmpty { arguments["hosts"] = hosts }
        return arguments
    }

    private func keys() throws -> KeySource {
        if let keys = try KeySource.takingEnvironment() { return keys }
        return .file(KeyFile(keyFile, passphrase: passphraseFile.map { .file($0) }))
    }

    /// The socket where nothing is said: in the folder that goes with the login, else beside the database.
    private static func socket(_ environment: [String: String], beside database: String) -> String {
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") { return "\(folder)/crumb/crumb.sock" }
        return URL(filePath: database).deletingLastPathComponent().path(percentEncoded: false) + "crumb.sock"
    }

    private func fail(_ message: String) throws -> Never {
        FileHandle.standardError.write(Data("crumb: \(message)\n".utf8))
        throw ExitCode(RunServiceCommand.notStarted)
    }
}

/// Sends the service's requests to authorization servers.
struct ServiceTransport: EndpointTransport {
    let clients: NetworkClients

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let exchange = HTTPExchange(bodyLimit: EndpointResponse.maximumBodySize + 1, by: clients)
        return try await exchange.answer(HelperMessage<ExchangeQuestion>(request)).response(to: request)
    }
}
