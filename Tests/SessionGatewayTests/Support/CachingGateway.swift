import CookieModel
import Foundation
import GatewayModel
import HTTPCaching
import NIOCore
import NIOPosix
import ResponseStore
import SessionStore
import Synchronization
import Testing

@testable import SessionGateway

/// A gateway with a cache, for one test.
final class CachingGateway {
    let fixture: GatewayFixture
    var rules = CachingRules.standard
    var isOffline = false
    /// Whether no name can be resolved.
    var isUnresolvable = false
    /// What else is set.
    var change: (inout GatewaySetup) -> Void = { _ in }
    private let folder: URL
    private let cache: ResponseCache

    init() throws {
        fixture = try GatewayFixture()
        folder = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
        cache = ResponseCache(CacheFolder(folder.path), of: fixture.jar.database)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The files with bodies.
    func bodyFiles() throws -> [URL] {
        let all = FileManager.default.enumerator(at: folder.appending(path: "bodies"), includingPropertiesForKeys: nil)
        return (all?.allObjects as? [URL] ?? []).filter { !$0.hasDirectoryPath }
    }

    /// The setup of the gateway. Its time stands still: a server that is slow to answer counts as reached.
    var setup: GatewaySetup {
        var setup = GatewaySetup.forTools
        setup.clock = ManualClock()
        return completed(setup)
    }

    private func completed(_ setup: GatewaySetup) -> GatewaySetup {
        var setup = setup
        setup.cachingRules = rules
        setup.isOffline = isOffline
        setup.cache = cache
        if isUnresolvable { setup.resolver = { NoResolver(loop: $0) } }
        change(&setup)
        return setup
    }

    /// Sends requests, each on a connection of its own.
    ///
    /// - Parameters:
    ///   - requests: Method and path, fields after these, and a body after an empty line.
    ///   - later: How many seconds pass before.
    ///   - last: Runs at last, while the gateway runs.
    func responses(
        to requests: [String], from server: RecordingServer, host: String = "127.0.0.1", jar: CookieJar? = nil,
        later seconds: Int64 = 0, finally last: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> [String] {
        let port = server.port
        fixture.clockOffset.withLock { $0 += seconds }
        let texts = Texts()
        try await run(of: jar) { address in
            for request in requests {
                await texts.append(
                    try await CachingGateway.response(to: request, of: "\(host):\(port)", through: address))
            }
            try await last()
        }
        return await texts.all
    }

    /// Runs `body` while a gateway with the cache runs.
    func run(
        _ setup: GatewaySetup? = nil, of jar: CookieJar? = nil,
        _ body: @escaping @Sendable (GatewayAddress) async throws -> Void
    ) async throws {
        try await fixture.run(setup.map(completed) ?? self.setup, of: jar, body)
    }

    /// Sends a request on a connection of its own.
    ///
    /// - Parameters:
    ///   - request: Method and path, fields after these, and a body after an empty line.
    ///   - server: Host and port; `nil` for that of a gateway that offers a site.
    static func response(
        to request: String, of server: String? = nil, through address: GatewayAddress
    ) async throws -> String {
        let parts = request.split(separator: "\r\n\r\n", maxSplits: 1)
        let words = parts[0].split(separator: " ", maxSplits: 2)
        let client = try await RawClient.connect(to: address)
        let fields = words.count > 2 ? "\(words[2])\r\n" : ""
        try await client.send(
            "\(words[0]) \(server.map { "http://\($0)" } ?? "")\(words[1]) HTTP/1.1\r\n"
                + "Host: \(server ?? "\(address)")\r\n\(fields)"
                + "Connection: close\r\n\(words[0] == "POST" ? "Content-Length: 0\r\n" : "")\r\n"
                + (parts.count > 1 ? String(parts[1]) : ""))
        defer { client.close() }
        return await client.response()
    }

    private actor Texts {
        private(set) var all: [String] = []

        func append(_ text: String) { all.append(text) }
    }

    private struct NoResolver: Resolver {
        let loop: any EventLoop
        struct Failure: Error {}

        func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            loop.makeFailedFuture(Failure())
        }

        func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            loop.makeFailedFuture(Failure())
        }

        func cancelQueries() {}
    }
}
