import Platform
import SessionStore

/// A Unix-domain socket that only its owner can reach, from the moment it exists.
///
/// One process has it at a time: it holds a lock beside the socket, which is released if the process dies. The socket
/// of a dead process is replaced.
final class UnixSocket: Sendable {
    let path: String
    private let lock: Int32
    private let identity: FileIdentity

    /// The socket's bound descriptor. The listener owns it.
    let descriptor: Int32

    /// Binds a socket. A missing folder is created with mode 0700.
    ///
    /// - Throws: ``ServiceStartError/Code/unprotected`` if every user may replace the socket, or a folder above it.
    init(path: String) throws(ServiceStartError) {
        var address = try UnixSocket.address(path)
        PrivateFile.createFolders(above: path)
        if let folder = PrivateFile.unprotectedFolder(above: path) {
            throw ServiceStartError(
                .unprotected,
                "\(path): every user can write to \(folder) and replace the socket; name one in a folder of "
                    + "your own with --socket, or run: chmod o-w '\(folder)'")
        }
        let lock = try UnixSocket.lock(path)
        do {
            try UnixSocket.removeStale(path, &address)
            (descriptor, identity) = try UnixSocket.bind(path, &address)
        } catch {
            close(lock)
            throw error
        }
        self.path = path
        self.lock = lock
    }

    /// Starts listening, with a queue of `backlog` connections that wait to be accepted.
    func listen(backlog: Int32) {
        Platform.listen(descriptor, backlog)
    }

    /// Removes the socket's file if it is still this one: no client can connect any more.
    func unlinkPath() {
        if FileIdentity(path) == identity { unlink(path) }
    }

    /// Removes the socket's file, and releases its name.
    func remove() {
        unlinkPath()
        close(lock)
    }

    // MARK: - Binding

    private static func bind(
        _ path: String, _ address: inout sockaddr_un
    ) throws(ServiceStartError) -> (descriptor: Int32, identity: FileIdentity) {
        let descriptor = socket()
        guard descriptor >= 0 else { throw failure(path, errno) }
        // A file's mode counts from its first moment on, other than one that is given to it later.
        #if os(Linux)
            // The file gets the mode that its socket has.
            let result =
                fchmod(descriptor, 0o600) == 0 ? withAddress(&address) { Platform.bind(descriptor, $0, $1) } : -1
            let reason = errno
        #else
            // Other systems know only the mask, which is for everything that the process makes in the meantime.
            let mask = umask(0o177)
            let result = withAddress(&address) { Platform.bind(descriptor, $0, $1) }
            let reason = errno
            umask(mask)
        #endif
        guard result == 0, let identity = FileIdentity(path) else {
            close(descriptor)
            throw failure(path, result == 0 ? ENOENT : reason)
        }
        return (descriptor, identity)
    }

    private static func socket() -> Int32 {
        let descriptor = Platform.socket(AF_UNIX, SocketKind.stream, 0)
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
    }

    private static func address(_ path: String) throws(ServiceStartError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard !bytes.isEmpty, bytes.count < capacity, !bytes.contains(0) else {
            throw ServiceStartError(
                .configurationInvalid,
                "\(path): the path of a socket has 1 to \(capacity - 1) bytes; name a shorter one with --socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    private static func withAddress<Result>(
        _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Takes the lock on the socket.
    private static func lock(_ path: String) throws(ServiceStartError) -> Int32 {
        let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            throw reason == EWOULDBLOCK ? inUse(path) : failure(path, reason)
        }
        return descriptor
    }

    /// Removes the socket of a process that is no more; leaves everything else alone.
    private static func removeStale(_ path: String, _ address: inout sockaddr_un) throws(ServiceStartError) {
        guard !FileSystem.isAbsent(path) else { return }
        guard !FileSystem.isOtherThanSocket(path) else {
            throw ServiceStartError(
                .addressUnavailable, "\(path): this file exists and is not a socket; name another one")
        }
        let descriptor = socket()
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        // A listener whose queue is full is alive, too: this must not wait for it.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let isAnswered = withAddress(&address) { connect(descriptor, $0, $1) } == 0 || errno == EAGAIN
        guard !isAnswered else { throw inUse(path) }
        guard errno == ECONNREFUSED, unlink(path) == 0 else { throw failure(path, errno) }
    }

    private static func inUse(_ path: String) -> ServiceStartError {
        ServiceStartError(.addressInUse, "\(path): another process is listening on it; stop it, or name another socket")
    }

    private static func failure(_ path: String, _ reason: Int32) -> ServiceStartError {
        ServiceStartError(
            .addressUnavailable, "\(path): the socket cannot be created: \(SystemError(reason).message(creating: path))"
        )
    }
}
