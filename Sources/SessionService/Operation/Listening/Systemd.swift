import Platform

/// The sockets that systemd hands over, already listening (sd_listen_fds(3)).
enum SystemdActivation {
    private static let first: Int32 = 3

    /// Takes the sockets, once: the variables that tell of them go from the environment.
    static func takeSockets() -> [Int32] {
        defer { for name in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard let process = number("LISTEN_PID"), process == getpid(), let count = number("LISTEN_FDS"),
            (1...64).contains(count)
        else { return [] }
        return (first..<(first + count)).filter { descriptor in
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return isListening(descriptor)
        }
    }

    private static func number(_ name: String) -> Int32? {
        getenv(name).flatMap { Int32(String(cString: $0)) }
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0 && isListening == 1
    }
}

/// Tells systemd how far the service is (sd_notify(3)), if systemd asked for it.
struct SystemdNotifier: Sendable {
    private let path: String?

    init(path: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
        self.path = path
    }

    /// The service answers.
    func ready() { send("READY=1") }

    /// The service stops.
    func stopping() { send("STOPPING=1") }

    /// Does nothing if there is no such socket: the service does not depend on it.
    private func send(_ text: String) {
        guard let path else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), let first = bytes.first else { return }
        let size = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0
        // An abstract name, which begins with a zero byte.
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, SocketKind.datagram, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let text = Array(text.utf8)
                _ = sendto(descriptor, text, text.count, 0, address, socklen_t(size))
            }
        }
    }
}
