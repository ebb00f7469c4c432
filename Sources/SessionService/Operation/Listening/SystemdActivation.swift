#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

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
