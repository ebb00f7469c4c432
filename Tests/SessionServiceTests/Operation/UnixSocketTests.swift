import Foundation
import Testing

@testable import SessionService

@Suite("The service's socket")
struct UnixSocketTests {
    private let folder = TemporaryFolder()

    @Test("Its owner alone can reach it, folder and all")
    func modes() throws {
        let socket = try UnixSocket(path: folder.file("a/b/s"))
        #expect(try folder.mode("a/b/s") == 0o600 && folder.mode("a/b") == 0o700 && folder.mode("a") == 0o700)
        socket.remove()
        close(socket.descriptor)
        #expect(!FileManager.default.fileExists(atPath: folder.file("a/b/s")))
    }

    @Test("One that somebody listens on is left alone; what a dead process left is replaced")
    func stale() throws {
        let first = try UnixSocket(path: folder.file("s"))
        listen(first.descriptor, 1)
        #expect(throws: ServiceStartError.self) { try UnixSocket(path: folder.file("s")) }
        // Another program's, which knows nothing of the lock.
        try FileManager.default.removeItem(atPath: folder.file("s.lock"))
        let error = #expect(throws: ServiceStartError.self) { try UnixSocket(path: folder.file("s")) }
        #expect(error?.code == .addressInUse)
        close(first.descriptor)
        let second = try UnixSocket(path: folder.file("s"))
        second.remove()
        close(second.descriptor)
    }

    @Test("A file that is no socket stays as it is")
    func otherFile() throws {
        try Data("x".utf8).write(to: URL(filePath: folder.file("s")))
        #expect(throws: ServiceStartError.self) { try UnixSocket(path: folder.file("s")) }
        #expect(try folder.text("s") == "x")
    }

    @Test("A path that no socket can have is refused", arguments: [String(repeating: "x", count: 108), ""])
    func path(name: String) {
        #expect(throws: ServiceStartError.self) { try UnixSocket(path: name) }
    }

    @Test(
        "Addresses that others can reach are refused without TLS",
        arguments: [("0.0.0.0:0", false), ("[::]:0", false), ("127.0.0.1:0", true), ("localhost:0", true)])
    func unprotected(address: String, isStarted: Bool) async throws {
        let address = try #require(TCPAddress(address))
        do {
            try await RunningServer.with {
                $0.addresses = [address]
            } _: { _ in
            }
            #expect(isStarted)
        } catch let error as ServiceStartError {
            #expect(!isStarted && error.code == .unprotected)
        }
    }
}
