#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Keeps other processes from changing the same file in a folder, for as long as this object lives; a process that dies
/// lets go. Nothing is written.
final class FolderLock {
    private let descriptor: Int32

    /// Locks the folder of `path`; `nil` where another process has it, or it cannot be locked, with `errno` set.
    init?(of path: String) {
        descriptor = open(PrivateFile.folder(of: PrivateFile.resolved(path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }

    /// Whether the last failure was that another process has the lock.
    static var isHeldElsewhere: Bool { PrivateFile.lastFailure == EWOULDBLOCK }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
