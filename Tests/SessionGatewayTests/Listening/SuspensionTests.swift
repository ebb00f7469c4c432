import CookieModel
import Foundation
import NIOCore
import Platform
import SessionGateway
import Synchronization
import TestSupport
import Testing

@Suite("A gateway in an app that is suspended")
struct SuspensionTests {
    /// Ends the listening socket of a port, as a system does that takes it back from a suspended app.
    private static func endSocket(of port: Int) -> Bool {
        // Other tests may have thousands of files open.
        for descriptor in Int32(3)..<65536 {
            var isListening: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening != 0
            else { continue }
            var address = sockaddr_in()
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isKnown, Int32(address.sin_family) == AF_INET, Int(UInt16(bigEndian: address.sin_port)) == port
            else { continue }
            return shutdown(descriptor, Int32(SHUT_RDWR)) == 0
        }
        return false
    }

    /// The ports that a gateway has listened on, and -1 for each loss of one.
    private final class Ports: Sendable {
        private let list = Mutex<[Int]>([])

        var all: [Int] { list.withLock { $0 } }

        func add(_ port: Int) { list.withLock { $0.append(port) } }
    }

    @Test("When its listening socket is gone, it says so, and listens at the same port when it is run again")
    func rebinds() async throws {
        let fixture = try GatewayFixture()
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
        let server = try await RecordingServer.start { $0.suffix(4).elementsEqual("\r\n\r\n".utf8) ? answer : nil }
        var settings = GatewaySetup.forTools
        settings.limits.stop = .milliseconds(20)
        let gateway = try settings.gateway(of: fixture.jar, now: { .now })
        let ports = Ports()
        for round in 0..<3 {
            let (starts, continuation) = AsyncStream<GatewayAddress>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await gateway.run { if let address = $0.first { continuation.yield(address) } }
                    } catch let error as GatewayError where error.code == .listenerFailed {
                        ports.add(-1)
                    }
                    continuation.finish()
                }
                for await address in starts {
                    ports.add(address.port)
                    let client = try await RawClient.connect(to: address)
                    try await client.send(
                        "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
                    #expect(await client.response { $0.hasSuffix("ok") }.hasPrefix("HTTP/1.1 200"))
                    client.close()
                    if round < 2 { try #require(Self.endSocket(of: address.port)) } else { group.cancelAll() }
                }
                try await group.waitForAll()
            }
        }
        let seen = ports.all
        #expect(seen.count == 5 && seen[1] == -1 && seen[3] == -1, "\(seen)")
        #expect(seen[0] == seen[2] && seen[2] == seen[4], "\(seen)")
        #expect(server.requests.withLock { $0.count } == 3)
    }

    @Test("The gateway starts no processes, which an app may not")
    func spawnsNothing() throws {
        let folder = Repository.root.appending(path: "Sources/SessionGateway")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(names.count > 20)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for call in ["Process(", "posix_spawn", "fork(", "execv", "popen(", "system("] {
                #expect(!text.contains(call), "\(name): \(call)")
            }
        }
    }
}
