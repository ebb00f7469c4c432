import CookieModel
import Foundation
import Logging
import NIOCore
import OAuth2
import ServiceLifecycle
import SessionOperations
import SessionStore
import Synchronization
import Testing

@testable import SessionService

/// A service that runs within a test, on a socket and on a port.
final class RunningServer: Sendable {
    static let now = Timestamp(seconds: 1_800_000_000)

    let database: SessionDatabase
    let socket: String
    let port: Int
    /// Everything that was logged, at any level.
    let log: CollectedLog
    private let folder: TemporaryFolder

    private init(_ folder: TemporaryFolder, _ database: SessionDatabase, _ log: CollectedLog, port: Int) {
        self.folder = folder
        self.log = log
        self.database = database
        socket = folder.file("crumb.sock")
        self.port = port
    }

    /// The owner's token for TCP.
    var ownerToken: String {
        get throws { try folder.text("token").trimmingCharacters(in: .newlines) }
    }

    var auditLog: String {
        get throws { try folder.text("audit.jsonl") }
    }

    /// A token for something.
    func token(_ name: String, _ verbs: Set<AccessVerb>, jars: AccessGrant.Jars = .all) throws -> String {
        var generator = SystemRandomNumberGenerator()
        let secret = try database.serviceTokens.create(
            named: name, grant: AccessGrant(verbs: verbs, jars: jars), now: RunningServer.now, using: &generator)
        return try #require(secret.exposedText)
    }

    /// Runs a service for as long as `body` takes, and lets it stop as SIGTERM does.
    ///
    /// - Parameters:
    ///   - transport: what asks authorization servers.
    ///   - keys: where the sealing key comes from.
    ///   - runningGateway: runs a gateway.
    ///   - inherited: sockets that somebody else listens on for the service.
    /// - Returns: the service as it was, with what it has written.
    @discardableResult
    static func with(
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        transport: any EndpointTransport = AuthorizationServer(),
        inherited: [Int32] = [], keys: KeySource? = nil,
        runningGateway: @escaping @Sendable (GatewayJob) async throws -> Void = {
            try await PretendedGateways().run($0)
        },
        _ body: @escaping @Sendable (RunningServer) async throws -> Void
    ) async throws -> RunningServer {
        let folder = TemporaryFolder()
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(path: folder.file("crumb.sqlite"), keys: keys ?? .key(key), now: now)
        let jar = try database.jar(named: "work", now: now)
        try jar.receive(
            ReceivedResponse(
                context: CookieModel.RequestContext(url: try RequestURL("https://www.example.com/")),
                setCookie: ["sid=c00kie-secret; Path=/; Secure; HttpOnly"]), now: now)
        var configuration = ServiceConfiguration()
        configuration.socket = folder.file("crumb.sock")
        configuration.addresses = [try #require(TCPAddress("127.0.0.1:0"))]
        configuration.tokenFile = folder.file("token")
        configuration.auditFile = folder.file("audit.jsonl")
        // A machine that is busy with other tests may let a connection wait long.
        configuration.limits.headerSeconds = 600
        configuration.limits.idleSeconds = 600
        configuration.limits.shutdownSeconds = 600
        change(&configuration)
        let log = CollectedLog()
        var logger = Logger(label: "test") { label in
            ServiceLogHandler(label: label, now: { now }, write: { log.append($0) })
        }
        logger.logLevel = .trace
        var service = SessionServer(
            database: database, configuration: configuration, transport: transport, logger: logger, now: { now })
        // Many services run at once here.
        service.writerCount = 4
        // Requests are counted as if they came at once.
        let start = NIODeadline.now()
        service.tick = { start }
        service.runGateway = runningGateway
        let services = try await service.prepare(inherited: inherited)
        let port = services.listeners.all.compactMap(\.port).first ?? 0
        let server = RunningServer(folder, database, log, port: port)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.all.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) },
                logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            do {
                try await body(server)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        return server
    }
}

/// Lines that were logged.
final class CollectedLog: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func append(_ line: [UInt8]) { bytes.withLock { $0 += line } }
}
