import Foundation
import NIOCore
import Platform
import SessionStore
import Testing

@testable import SessionService

@Suite("Sockets that another process listens on for the service")
struct InheritedSocketTests {
    private let folder = TemporaryFolder()

    /// A socket that listens, as systemd hands one over.
    private static func listening(_ address: SocketAddress) throws -> Int32 {
        let family: Int32 =
            switch address {
            case .v4: AF_INET
            case .v6: AF_INET6
            case .unixDomainSocket: AF_UNIX
            }
        let descriptor = socket(family, SocketKind.stream, 0)
        let bound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
        try #require(descriptor >= 0 && bound == 0 && listen(descriptor, 16) == 0)
        return descriptor
    }

    /// Expects a service to start on a socket, or to refuse it as unprotected.
    private func expectStart(on descriptor: Int32, _ isStarted: Bool) async throws {
        do {
            try await RunningServer.with(inherited: [descriptor]) { _ in }
            #expect(isStarted)
        } catch let error as ServiceStartError {
            #expect(!isStarted && error.code == .unprotected)
            close(descriptor)
        }
    }

    @Test(
        "Inherited TCP sockets have the rules of --listen: loopback, or TLS",
        arguments: [
            ("127.0.0.1", true), ("127.1.2.3", true), ("::1", true), ("0.0.0.0", false), ("::", false),
            ("::ffff:127.0.0.1", false),
        ])
    func places(host: String, isStarted: Bool) async throws {
        let descriptor = try Self.listening(try SocketAddress(ipAddress: host, port: 0))
        try await expectStart(on: descriptor, isStarted)
    }

    @Test("Inherited TCP sockets require a token, and reject other host names")
    func tokens() async throws {
        let descriptor = try Self.listening(try SocketAddress(ipAddress: "127.0.0.1", port: 0))
        try await RunningServer.with(inherited: [descriptor]) { server in
            let token = try server.token("t", [.read])
            let host = "127.0.0.1:\(server.port)"
            try await RawConnection.with(port: server.port) { connection in
                let rows: [([String: String], Int)] = [
                    (["Host": host], 401), (["Host": host, "Authorization": "Bearer crumb_x"], 401),
                    (["Host": host, "Authorization": "Bearer \(token)"], 200),
                    (["Host": "evil.test", "Authorization": "Bearer \(token)"], 421),
                    (["Host": host, "Origin": "http://evil.test", "Authorization": "Bearer \(token)"], 403),
                ]
                for (fields, status) in rows {
                    let answer = try await connection.ask("GET", "/v1/jars", fields)
                    #expect(answer.status == status)
                }
            }
        }
    }

    @Test(
        "Inherited Unix-domain sockets that others can reach are rejected",
        arguments: [(0o600, true), (0o666, false), (0o660, false)])
    func modes(mode: mode_t, isStarted: Bool) async throws {
        let path = folder.file("inherited.sock")
        let descriptor = try Self.listening(try SocketAddress(unixDomainSocketPath: path))
        try #require(chmod(path, mode) == 0)
        try await expectStart(on: descriptor, isStarted)
    }
}
