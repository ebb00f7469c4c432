import CookieModel
import Platform
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "Finding the primary of several PostgreSQL servers",
    .onlyOnServer)
struct FailoverTests {
    private let server: TestServer
    private let name: String

    init() throws {
        server = try #require(TestServer.shared)
        name = try server.newDatabase()
    }

    /// Calls `body` with a port at which connections are accepted and nothing is ever said, as by a frozen server.
    private func withSilentServer(_ body: (UInt16) throws -> Void) throws {
        let descriptor = socket(AF_INET, SocketKind.stream, 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try #require(bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0)
                try #require(getsockname(descriptor, address, &length) == 0)
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        try body(port)
    }

    @Test("A connection tries the next server if one is silent, and later ones begin with that server")
    func silentServer() throws {
        try withSilentServer { port in
            let target = try server.target(name, behind: port)
            #expect(target.order == [0, 1])
            let session = try PostgreSQLSession(target)
            try session.enqueue("SELECT 1")
            try session.synchronize()
            #expect(target.order == [1, 0])
            let database = try server.open(target)
            let jar = try database.jar(now: Given.now)
            try jar.receive("a=1; Path=/")
            #expect(try jar.header() == "a=1")
        }
    }

    @Test("After the heartbeat has found another primary, every other connection reconnects once")
    func epoch() throws {
        let target = try server.target(name)
        let engine = try PostgreSQLDatabase(target)
        let database = try SessionDatabase(engine, name: name, keys: .key(try Given.key()), now: Given.now)
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        for _ in 0..<3 { try engine.commitHeartbeat() }
        #expect(target.servers.epoch == 0)
        let before = try database.number("SELECT pg_backend_pid()::bigint")
        #expect(try database.number("SELECT pg_backend_pid()::bigint") == before)

        let other = try PostgreSQLSession(try server.target("postgres"))
        try other.enqueue(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND query LIKE '%heartbeat%'"
        )
        try other.synchronize()
        for _ in 0..<3 { try engine.commitHeartbeat() }
        #expect(target.servers.epoch == 1)
        let after = try database.number("SELECT pg_backend_pid()::bigint")
        #expect(after != before)
        #expect(try database.number("SELECT pg_backend_pid()::bigint") == after)
        try jar.receive("a=2; Path=/")
        #expect(try jar.header() == "a=2")
    }
}
