#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Files that only their owner may read, from before the first byte.
package enum PrivateFile {
    /// The `errno` that says there is no room.
    package static let noSpace = ENOSPC

    /// The `errno` that says that there is such a file.
    package static let alreadyThere = EEXIST

    /// The `errno` that says that there is no such file or folder.
    package static let notFound = ENOENT

    /// The `errno` of the last failure on this thread.
    package static var lastFailure: Int32 { errno }

    /// Returns the system's message for an `errno`.
    package static func message(_ failure: Int32) -> String {
        String(cString: strerror(failure))
    }

    /// Returns the system's message for an `errno` of an attempt to create the file at `path`.
    ///
    /// If its folder is missing, the message says why ``createFolders(above:)`` could not create it.
    package static func message(_ failure: Int32, creating path: String) -> String {
        guard failure == ENOENT, path.hasPrefix("/") else { return message(failure) }
        var folder = folder(of: path)
        while folder != "/", permissions(folder) == nil { folder = PrivateFile.folder(of: folder) }
        guard folder != PrivateFile.folder(of: path), access(folder, W_OK | X_OK) != 0 else { return message(failure) }
        return "no folder can be created in \(folder): \(message(errno))"
    }

    /// The permission bits of a file, or `nil` if there is no such file.
    package static func permissions(_ path: String) -> UInt32? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return UInt32(status.st_mode) & 0o7777
    }

    /// Whether a file is its owner's alone.
    package static func isPrivate(_ path: String) -> Bool {
        permissions(path).map { $0 & 0o077 == 0 } ?? false
    }

    /// The number of bytes in a file, or `nil` if there is no such file.
    package static func size(_ path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// How many bytes are left for files in the folder of `path`; `nil` where the file system does not tell.
    package static func room(besides path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(folder(of: path), &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
            .partialValue
    }

    /// The first folder above `path` in which every user may rename and remove what is another's; `nil` where there is
    /// none. The sticky bit, which `/tmp` has, keeps them from that.
    package static func unprotectedFolder(above path: String) -> String? {
        var folder = resolved(folder(of: path))
        while true {
            if let mode = permissions(folder), mode & 0o1002 == 0o0002 { return folder }
            guard folder.count > 1, folder.contains("/") else { return nil }
            folder = PrivateFile.folder(of: folder)
        }
    }

    /// Whether both paths lead to the same file.
    package static func isSame(_ left: String, _ right: String) -> Bool {
        var (leftStatus, rightStatus) = (stat(), stat())
        return stat(left, &leftStatus) == 0 && stat(right, &rightStatus) == 0
            && leftStatus.st_dev == rightStatus.st_dev && leftStatus.st_ino == rightStatus.st_ino
    }

    /// Whether `path` is a folder.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether `path` is a file with contents of its own, not a folder, a pipe or a device.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether there is something at `path` that is neither a file nor a folder: a pipe, a device.
    package static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Whether there is something at `path`, be it a link that leads nowhere, other than a socket.
    package static func isOtherThanSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
    }

    /// Whether `path` is known to name nothing; where it cannot be looked up, that is not known.
    package static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && errno == ENOENT
    }

    /// Why a file cannot be read, found out without opening it.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func readingFailure(_ path: String) -> Int32 {
        access(path, R_OK) == 0 ? 0 : errno
    }

    /// Takes a file away from everybody but its owner.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func restrict(_ path: String) -> Int32 {
        chmod(path, 0o600) == 0 ? 0 : errno
    }

    /// Creates an empty file with mode 0600; leaves an existing one as it is.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func create(_ path: String) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
        close(descriptor)
        return 0
    }

    /// Creates the folders above `path` with mode 0700 where they are missing.
    package static func createFolders(above path: String) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        guard permissions(folder) == nil else { return }
        createFolders(above: folder)
        _ = mkdir(folder, 0o700)
    }

    /// Makes a whole file with mode 0600 appear at once, never replacing one that is there.
    ///
    /// Two processes that both try leave one file, whole; both find it afterwards.
    ///
    /// - Returns: 0, or the `errno` of the failure; `EEXIST` if another process was first.
    package static func publish(_ bytes: [UInt8], to path: String) -> Int32 {
        let temporary = temporaryName(for: path)
        defer { unlink(temporary) }
        let failure = write(bytes, to: temporary)
        guard failure == 0 else { return failure }
        return link(temporary, path) == 0 ? 0 : errno
    }

    /// Puts a whole file with mode 0600 in the place of the one at `path`: whoever opens it finds the old one or the new
    /// one, whatever happens meanwhile. Where `path` is a link, the file that it leads to is replaced.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func replace(_ bytes: [UInt8], at path: String) -> Int32 {
        let path = resolved(path)
        let temporary = temporaryName(for: path)
        defer { unlink(temporary) }
        let failure = write(bytes, to: temporary)
        guard failure == 0 else { return failure }
        guard rename(temporary, path) == 0 else { return errno }
        return synchronizeFolder(of: path)
    }

    /// Gives a file that is whole its name, at once: in the place of another one, or never so.
    ///
    /// - Returns: 0, or the `errno` of the failure; `EEXIST` where there is a file that is not to go.
    package static func publish(file: String, as path: String, replacing: Bool) -> Int32 {
        guard (replacing ? rename(file, path) : link(file, path)) == 0 else { return errno }
        return synchronizeFolder(of: path)
    }

    /// Removes a database with what SQLite may have put beside it.
    package static func removeDatabase(_ path: String) {
        unlink(path)
        removeLogs(of: path)
    }

    /// Removes what SQLite may have put beside a database: its journal, its write-ahead log and the log's index.
    package static func removeLogs(of path: String) {
        for end in ["-journal", "-wal", "-shm"] { unlink(path + end) }
    }

    /// A name beside `path` that nothing has.
    package static func temporaryName(for path: String) -> String {
        "\(path).\(getpid())-\(UInt64.random(in: 0 ... .max)).new"
    }

    /// Removes what ``publish(_:to:)`` and ``replace(_:at:)`` left behind where their process was killed.
    package static func removeTemporaries(of path: String) {
        for name in temporaries(of: path) { unlink(name) }
    }

    /// The files that ``temporaryName(for:)`` has named.
    package static func temporaries(of path: String) -> [String] {
        let folder = folder(of: path)
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        let prefix = "\(path.split(separator: "/").last ?? "")."
        var found: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(prefix), name.hasSuffix(".new") { found.append("\(folder)/\(name)") }
        }
        return found
    }

    /// The folder that `path` lies in.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The absolute path without links, as far as the path exists.
    package static func resolved(_ path: String) -> String {
        if let pointer = realpath(path, nil) {
            defer { free(pointer) }
            return String(cString: pointer)
        }
        guard !["", ".", "/"].contains(path), path.utf8.count < Int(PATH_MAX) else { return path }
        if path.hasSuffix("/") { return resolved(String(path.dropLast())) }
        let parent = resolved(folder(of: path))
        return parent + (parent.hasSuffix("/") ? "" : "/") + (path.split(separator: "/").last ?? "")
    }

    /// Has the disk keep what was made, renamed or removed in the folder of `path`.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func synchronizeFolder(of path: String) -> Int32 {
        let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // A file system that cannot do that says EINVAL.
        return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
    }

    /// Writes a new file with mode 0600 and has the disk keep it.
    private static func write(_ bytes: [UInt8], to path: String) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                systemWrite(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            guard count > 0 else {
                let failure = errno
                if failure == EINTR { continue }
                close(descriptor)
                return failure == 0 ? EIO : failure
            }
            written += count
        }
        guard fsync(descriptor) == 0 else {
            let failure = errno
            close(descriptor)
            return failure
        }
        return close(descriptor) == 0 ? 0 : errno
    }

    /// Opens a file to add to its end, creating it with mode 0600 if it does not exist.
    ///
    /// - Returns: its descriptor, or a negative number with `errno` set.
    package static func openForAppending(_ path: String) -> Int32 {
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    }

    /// Adds bytes to the end of an open file: all of them, or none.
    ///
    /// - Returns: whether they are there, with `errno` set where not.
    package static func append(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                systemWrite(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                let failure = errno
                if written > 0 { ftruncate(descriptor, status.st_size) }
                errno = failure
                return false
            }
        }
        return true
    }

    /// Reads at most `limit` bytes from the start of a file.
    ///
    /// - Returns: the bytes, or `nil` with `errno` set.
    package static func contents(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var filled = 0
        while filled < limit {
            let count = bytes.withUnsafeMutableBytes { buffer in
                read(descriptor, buffer.baseAddress.map { $0 + filled }, limit - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes[0..<filled])
    }
}

/// The system's `write`, which the method above hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// Which file it is that lies at a path, whatever it is called.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// The file at `path`; `nil` if it does not exist.
    package init?(_ path: UnsafePointer<CChar>?) {
        var status = stat()
        guard let path, path.pointee != 0, stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// Keeps other processes from changing the same file in a folder, for as long as this object lives; a process that dies
/// lets go. Nothing is written.
package final class FolderLock {
    private let descriptor: Int32

    /// Locks the folder of `path`; `nil` where another process has it, or it cannot be locked, with `errno` set.
    package init?(of path: String) {
        descriptor = open(PrivateFile.folder(of: PrivateFile.resolved(path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }

    /// Whether the last failure was that another process has the lock.
    package static var isHeldElsewhere: Bool { PrivateFile.lastFailure == EWOULDBLOCK }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
