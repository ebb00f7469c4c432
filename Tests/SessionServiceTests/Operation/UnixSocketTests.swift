import Foundation
import Testing

@testable import SessionService

@Suite("The service's socket")
struct UnixSocketTests {
    private let folder = TemporaryFolder()

    @Test("Only its owner can reach the service's socket and its folder")
    func modes() throws {
        let socket = try UnixSocket(path: folder.file("a/b/s"))
        #expect(try folder.mode("a/b/s") == 0o600 && folder.mode("a/b") == 0o700 && folder.mode("a") == 0o700)
        socket.remove()
        close(socket.descriptor)
        #expect(!FileManager.default.fileExists(atPath: folder.file("a/b/s")))
    }

    #if os(Linux)
        @Test("The service's socket has mode 0600 from the moment of its creation")
        func modeFromTheBeginning() throws {
            let other = try UnixSocket(path: folder.file("a/other"))
            defer {
                other.remove()
                close(other.descriptor)
            }
            let watch = inotify_init1(Int32(IN_NONBLOCK))
            try #require(watch >= 0)
            defer { close(watch) }
            let events = UInt32(IN_CREATE) | UInt32(IN_ATTRIB) | UInt32(IN_MOVED_TO)
            try #require(inotify_add_watch(watch, folder.file("a"), events) >= 0)
            let socket = try UnixSocket(path: folder.file("a/s"))
            defer {
                socket.remove()
                close(socket.descriptor)
            }
            let seen = try InotifyEvent.all(of: watch).filter { $0.name == "s" }
            #expect(seen.map { $0.mask } == [UInt32(IN_CREATE)])
            #expect(try folder.mode("a/s") == 0o600)
        }

        /// What happened to a file.
        private struct InotifyEvent {
            let mask: UInt32
            let name: String

            /// All that happened so far.
            static func all(of watch: Int32) throws -> [InotifyEvent] {
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                let count = read(watch, &bytes, bytes.count)
                try #require(count >= 0)
                var events: [InotifyEvent] = []
                var place = 0
                // struct inotify_event: wd, mask, cookie and len, 32 bits each, and then the name with zeros behind it.
                while place < count {
                    let words = bytes[place..<place + 16].withUnsafeBytes { bytes in
                        (0..<4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
                    }
                    let name = bytes[place + 16..<place + 16 + Int(words[3])].prefix { $0 != 0 }
                    events.append(InotifyEvent(mask: words[1], name: String(decoding: name, as: UTF8.self)))
                    place += 16 + Int(words[3])
                }
                return events
            }
        }
    #endif

    @Test("A socket in use is left alone; one of a dead process is replaced")
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

    @Test("A file at the socket's path that is not a socket is left unchanged")
    func otherFile() throws {
        try Data("x".utf8).write(to: URL(filePath: folder.file("s")))
        #expect(throws: ServiceStartError.self) { try UnixSocket(path: folder.file("s")) }
        #expect(try folder.text("s") == "x")
    }

    @Test("A path that no socket can have is rejected", arguments: [String(repeating: "x", count: 108), ""])
    func path(name: String) {
        #expect(throws: ServiceStartError.self) { try UnixSocket(path: name) }
    }

    @Test("A folder writable by every user is rejected, at any level; the sticky bit of /tmp protects its entries")
    func folders() throws {
        for (name, mode, isRefused) in [("open", 0o777, true), ("sticky", 0o1777, false), ("group", 0o770, false)] {
            for path in ["\(name)/s", "\(name)/below/s"] {
                let parent = folder.file(String(path.dropLast(2)))
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
                #expect(chmod(folder.file(name), mode_t(mode)) == 0)
                do {
                    let socket = try UnixSocket(path: folder.file(path))
                    socket.remove()
                    close(socket.descriptor)
                    #expect(!isRefused, "\(path)")
                } catch {
                    #expect(isRefused && error.code == .unprotected, "\(error)")
                    #expect(error.description.contains(folder.file(name)))
                    #expect(!FileManager.default.fileExists(atPath: folder.file(path) + ".lock"))
                }
            }
        }
    }

    @Test(
        "Addresses that others can reach are rejected without TLS",
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
