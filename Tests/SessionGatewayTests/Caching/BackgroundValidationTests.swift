import NIOCore
import Synchronization
import Testing

@testable import SessionGateway

@Suite("A validation that no client waits for", .timeLimit(.minutes(5)))
struct BackgroundValidationTests {
    private let home: CachingGateway

    init() throws {
        home = try CachingGateway()
    }

    /// A server whose responses are numbered, and become stale after a minute.
    ///
    /// - Parameter length: The length that a response after the first one has.
    private static func server(length: Int = 2) async throws -> RecordingServer {
        let count = Mutex(0)
        return try await RecordingServer.start { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Array(
                ("HTTP/1.1 200 OK\r\nContent-Length: \(number == 1 ? 2 : length)\r\n"
                    + "Cache-Control: max-age=60, stale-while-revalidate=600\r\n\r\nv\(number)").utf8)
        }
    }

    private static func get(_ server: RecordingServer, _ address: GatewayAddress) async throws -> String {
        let client = try await RawClient.connect(to: address)
        defer { client.close() }
        let host = "127.0.0.1:\(server.port)"
        try await client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        return await client.response()
    }

    @Test("A recording has what clients got, and not the validation")
    func recorded() async throws {
        let folder = RecordingFolder()
        let recording = try folder.recording("a.har", withSecrets: false)
        home.change = { $0.recording = recording }
        let server = try await Self.server()
        let fixture = home.fixture
        let bodies = Mutex<[String]>([])
        try await fixture.run(home.setup) { address in
            func get() async throws -> String {
                let body = String(try await Self.get(server, address).suffix(2))
                bodies.withLock { $0.append(body) }
                return body
            }
            #expect(try await get() == "v1")
            fixture.clockOffset.withLock { $0 += 61 }
            #expect(try await get() == "v1")
            while try await get() != "v2" { try Task.checkCancellation() }
        }
        #expect(server.requests.withLock { $0.count } == 2)
        let entries = try HARFile(folder.path("a.har")).entries
        #expect(entries.map { $0.content["text"] as? String } == bodies.withLock { $0.map(Optional.some) })
    }

    @Test("If its server never ends the body, it ends by itself, and the next request begins another one")
    func endless() async throws {
        let clock = ManualClock()
        home.change = { $0.clock = clock }
        let server = try await Self.server(length: 100)
        let fixture = home.fixture
        let isOver = Mutex(false)
        // The last one ends, too, although the gateway waits for it when it stops.
        let ending = Task {
            while !Task.isCancelled {
                if isOver.withLock({ $0 }) { clock.advance(by: .seconds(10)) }
                await Task.yield()
            }
        }
        try await fixture.run(home.setup) { address in
            #expect(try await Self.get(server, address).hasSuffix("v1"))
            fixture.clockOffset.withLock { $0 += 61 }
            // Until one has ended, no other begins.
            while server.requests.withLock({ $0.count }) < 3 {
                try Task.checkCancellation()
                let text = try await Self.get(server, address)
                #expect(text.hasSuffix("v1") && text.contains("; hit; ttl=-"), "\(text)")
                clock.advance(by: .seconds(10))
            }
            isOver.withLock { $0 = true }
        }
        ending.cancel()
        #expect(server.requests.withLock { $0.count } == 3)
    }

    @Test("It ends with the gateway, although its server never ends the body")
    func stopped() async throws {
        // The limits never pass: only the end of the gateway ends the connection.
        home.change = { $0.clock = ManualClock() }
        let server = try await Self.server(length: 100)
        let fixture = home.fixture
        try await fixture.run(home.setup) { address in
            let first = try await Self.get(server, address)
            fixture.clockOffset.withLock { $0 += 61 }
            let stale = try await Self.get(server, address)
            #expect(first.hasSuffix("v1") && stale.hasSuffix("v1"), "\(stale)")
            while server.requests.withLock({ $0.count }) < 2 { try await Task.sleep(for: .milliseconds(1)) }
        }
        for _ in 0..<server.connections.withLock({ $0 }) { await server.ended() }
    }
}
