/// Questions about files and folders, by their paths. A symbolic link counts as the file that it leads to.
package enum FileSystem {
    // MARK: - Kinds

    /// Whether `path` is known to name nothing. If it cannot be looked up, that is not known.
    package static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && errno == ENOENT
    }

    /// Whether `path` is a folder.
    package static func isFolder(_ path: String) -> Bool {
        kind(path) == S_IFDIR
    }

    /// Whether `path` is a file with contents of its own, not a folder, a pipe or a device.
    package static func isRegular(_ path: String) -> Bool {
        kind(path) == S_IFREG
    }

    /// Whether `path` is neither a file nor a folder but a pipe or a device, for example.
    package static func isSpecial(_ path: String) -> Bool {
        kind(path).map { $0 != S_IFREG && $0 != S_IFDIR } ?? false
    }

    /// Whether `path` is something other than a socket. A symbolic link is, even if it leads nowhere.
    package static func isOtherThanSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
    }

    private static func kind(_ path: String) -> mode_t? {
        status(path).map { $0.st_mode & S_IFMT }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    // MARK: - Properties

    /// Whether both paths lead to the same file.
    package static func isSame(_ left: String, _ right: String) -> Bool {
        guard let left = FileIdentity(left), let right = FileIdentity(right) else { return false }
        return left == right
    }

    /// The permission bits of a file; `nil` if it does not exist.
    package static func permissions(_ path: String) -> UInt32? {
        status(path).map { UInt32($0.st_mode) & 0o7777 }
    }

    /// The number of bytes in a file; `nil` if it does not exist.
    package static func size(_ path: String) -> Int64? {
        status(path).map { Int64($0.st_size) }
    }

    /// When a file was last written to, in seconds since 1970; `nil` if it does not exist.
    package static func modificationTime(_ path: String) -> Int64? {
        status(path).map { status in
            #if canImport(Darwin)
                Int64(status.st_mtimespec.tv_sec)
            #else
                Int64(status.st_mtim.tv_sec)
            #endif
        }
    }

    /// How many bytes are left for files in the folder of `path`; `nil` if the file system does not tell.
    package static func room(besides path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(folder(of: path), &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
            .partialValue
    }

    /// Why no file can be created in a folder; `nil` if one can.
    package static func changingFailure(_ folder: String) -> SystemError? {
        access(folder, W_OK | X_OK) == 0 ? nil : .last
    }

    /// Why a file cannot be read, found out without opening it; `nil` if it can.
    package static func readingFailure(_ path: String) -> SystemError? {
        access(path, R_OK) == 0 ? nil : .last
    }

    /// At most `limit` bytes from the start of a file.
    package static func contents(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
        let file = try Descriptor(opening: path, O_RDONLY)
        defer { file.close() }
        return try file.readAll(limit: limit)
    }

    // MARK: - Folders

    /// The folder that `path` lies in.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last component of `path`.
    package static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The path of the running program.
    package static var program: String? {
        #if canImport(Darwin)
            var size: UInt32 = 0
            _ = _NSGetExecutablePath(nil, &size)
            var path = [CChar](repeating: 0, count: Int(size))
            guard _NSGetExecutablePath(&path, &size) == 0 else { return nil }
            return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            guard let path = realpath("/proc/self/exe", nil) else { return nil }
            defer { free(path) }
            return String(cString: path)
        #endif
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

    /// The names in a folder, in no order, without "." and ".."; none if the folder cannot be read.
    package static func names(in folder: String) -> [String] { (try? allNames(in: folder)) ?? [] }

    /// The names in a folder, in no order, without "." and "..".
    package static func allNames(in folder: String) throws(SystemError) -> [String] {
        guard let stream = opendir(folder) else { throw .last }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .last }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Waits until files created, renamed or removed in the folder of `path` are on the disk.
    package static func synchronizeFolder(of path: String) throws(SystemError) {
        let folder = try Descriptor(opening: folder(of: path), O_RDONLY | O_DIRECTORY)
        defer { folder.close() }
        do throws(SystemError) {
            try folder.synchronize()
        } catch {
            // A file system that cannot do that reports EINVAL.
            guard error.number == EINVAL else { throw error }
        }
    }
}

extension SystemError {
    /// The system's message for an attempt to create the file at `path`. If the folders above it are missing, the message
    /// says why they could not be created.
    package func message(creating path: String) -> String {
        guard number == ENOENT, path.hasPrefix("/") else { return message }
        let own = FileSystem.folder(of: path)
        var folder = own
        while folder != "/", FileSystem.permissions(folder) == nil { folder = FileSystem.folder(of: folder) }
        guard folder != own, access(folder, W_OK | X_OK) != 0 else { return message }
        return "no folder can be created in \(folder): \(SystemError.last.message)"
    }
}

/// The file at a path, whatever it is called: its device and inode.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// An open file; `nil` if the system does not tell.
    package init?(_ file: Descriptor) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return nil }
        self.init(status)
    }

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
