import CookieModel
import CrumbCommands
import Logging
import PackageStore
import Platform
import PostgreSQLEngine
import SessionOperations
import SessionService
import SessionStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The service as this program runs it.
enum ServiceRun {
    /// Runs the service until it is told to stop.
    ///
    /// - Throws: `CommandFailure` if it does not start.
    static func run(_ order: ServiceOrder) async throws {
        do {
            try await serve(order)
        } catch let error as ServiceStartError {
            throw CommandFailure(.serviceNotStarted, error.description)
        } catch let error as SessionStoreError {
            throw CommandFailure(.serviceNotStarted, error.commandDescription)
        }
    }

    private static func serve(_ order: ServiceOrder) async throws {
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.raise()
        let environment = ProcessEnvironment.variables
        var settings = try ServiceConfiguration(
            arguments: order.settings, environment: environment, file: order.config)
        guard let path = settings.database ?? order.defaultDatabase else {
            throw CommandFailure(.serviceNotStarted, "HOME is not set; name the database with --database")
        }
        let isServer = DatabasePlace.isServer(path)
        if settings.socket == nil, settings.addresses.isEmpty {
            guard let socket = socket(environment, beside: isServer ? nil : path) else {
                throw CommandFailure(.serviceNotStarted, "XDG_RUNTIME_DIR is not set; name the socket with --socket")
            }
            settings.socket = socket
        }
        // The file counts after the environment, in which the command line's options are.
        var network = environment
        network["CRUMB_PROXY"] = environment["CRUMB_PROXY"] ?? settings.proxy
        network["CRUMB_PROXY_CREDENTIALS_FILE"] = settings.proxyCredentialsFile
        network["CRUMB_CA_FILE"] = settings.authorityFile
        var names: [String: String] = [:]
        if let file = order.config {
            for (variable, setting) in [
                ("CRUMB_CA_FILE", "caFile"), ("CRUMB_PROXY_CREDENTIALS_FILE", "proxyCredentialsFile"),
            ] where (environment[variable] ?? "").isEmpty {
                names[variable] = "\(file): \(setting)"
            }
        }
        let clients = NetworkSettings(environment: network, names: names)
        do {
            try clients.check()
        } catch let error as NetworkSettingsError {
            throw CommandFailure(.serviceNotStarted, error.reason)
        }
        if isServer, settings.tokenFile != nil {
            throw CommandFailure(
                .serviceNotStarted,
                "tokenFile: services that share a database have no token of one owner; leave it out, and create access "
                    + "tokens with 'crumb serve token create'")
        }
        if settings.tokenFile == nil, !isServer { settings.tokenFile = path + ".token" }
        LoggingSystem.bootstrap {
            ServiceLogHandler(label: $0, isForPerson: isatty(STDERR_FILENO) == 1, now: { .now })
        }
        var logger = Logger(label: "crumb")
        logger.logLevel = settings.logLevel
        let store =
            try isServer
            ? ServerStore.open(
                path, order.keys, .now, isFenced: true, journalLimit: settings.journalEntries
            ) { [logger] warning in
                logger.warning("The database server sent a warning", metadata: ["warning": "\(warning)"])
            }
            : SessionDatabase(
                path: path, keys: order.keys, durability: settings.isFullyDurable ? .full : .normal,
                journalLimit: settings.journalEntries, now: .now)
        if isServer {
            do throws(SessionStoreError) {
                // A rotation on another machine does not reach the packages of this one.
                try PackageStore.reseal(store)
            } catch {
                logger.warning("The offline packages were not resealed", metadata: ["reason": "\(error)"])
            }
        } else {
            KnownDatabases().remember(path)
        }
        let connections = NetworkClients(clients)
        var server = SessionServer(
            database: store, configuration: settings, transport: HTTPExchange(by: { connections }),
            logger: logger, now: { .now })
        server.runGateway = { try await GatewayRun.run($0, over: clients) }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await server.run()) } catch { outcome = .failure(error) }
        await connections.shutDown()
        try outcome.get()
    }

    /// The default socket: in the folder that belongs to the login, else beside the database's file.
    private static func socket(_ environment: [String: String], beside database: String?) -> String? {
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") { return "\(folder)/crumb/crumb.sock" }
        return database.map { URL(filePath: $0).deletingLastPathComponent().path(percentEncoded: false) + "crumb.sock" }
    }
}

/// Databases on servers, as this program opens them.
enum ServerStore {
    /// - Parameters:
    ///   - isFenced: whether statements need the heartbeat that a service commits.
    ///   - journalLimit: how many entries of a jar's journal are kept.
    ///   - warn: Receives the warnings of the server.
    static func open(
        _ url: String, _ keys: KeySource, _ now: Timestamp, isFenced: Bool = false,
        journalLimit: Int = SessionDatabase.defaultJournalLimit,
        warn: @escaping @Sendable (String) -> Void = CrumbProgram.warn
    ) throws -> SessionDatabase {
        try failing(url, warn: warn) { target in
            let server = try PostgreSQLDatabase(target, isFenced: isFenced)
            if isFenced { try server.commitHeartbeat() }
            return try SessionDatabase(
                server, name: target.name, keys: keys, journalLimit: journalLimit, now: now)
        }
    }

    /// Calls `body` with the location of a database.
    ///
    /// - Throws: `SessionStoreError`, as for a file.
    static func failing<Result>(
        _ url: String, warn: @escaping @Sendable (String) -> Void, _ body: (PostgreSQLTarget) throws -> Result
    ) throws -> Result {
        var target = try PostgreSQLTarget(url)
        target.warn = warn
        return try SessionStoreError.catching(target.name) { [target] in try body(target) }
    }
}
