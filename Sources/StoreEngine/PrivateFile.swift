package import Platform

/// Files that only their owner can read, from the first byte on.
package enum PrivateFile {
    // MARK: - Checking

    /// Whether only the owner of a file can use it.
    package static func isPrivate(_ path: String) -> Bool {
        FileSystem.permissions(path).map { $0 & 0o077 == 0 } ?? false
    }

    /// The first folder above `path` in which every user can rename and remove files of others; `nil` if all folders are
    /// protected. The sticky bit, which `/tmp` has, protects a folder.
    package static func unprotectedFolder(above path: String) -> String? {
        var folder = FileSystem.resolved(FileSystem.folder(of: path))
        while true {
            if let mode = FileSystem.permissions(folder), mode & 0o1002 == 0o0002 { return folder }
            guard folder.count > 1, folder.contains("/") else { return nil }
            folder = FileSystem.folder(of: folder)
        }
    }

    /// Takes a file away from everybody but its owner.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func restrict(_ path: String) -> Int32 {
        chmod(path, 0o600) == 0 ? 0 : errno
    }

    // MARK: - Creating

    /// Creates an empty file with mode 0600; leaves an existing one as it is.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func create(_ path: String) -> Int32 {
        do {
            try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL).close()
            return 0
        } catch {
            return error.number == EEXIST ? 0 : error.number
        }
    }

    /// Creates the missing folders above `path`, with mode 0700.
    package static func createFolders(above path: String) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        guard FileSystem.permissions(folder) == nil else { return }
        createFolders(above: folder)
        _ = mkdir(folder, 0o700)
    }

    /// Opens a file to add to its end, and creates it with mode 0600 if it does not exist.
    package static func openForAppending(_ path: String) throws(SystemError) -> Descriptor {
        try Descriptor(opening: path, O_WRONLY | O_APPEND | O_CREAT)
    }

    // MARK: - Publishing

    /// Makes a whole file with mode 0600 appear at once, and never replaces an existing one.
    ///
    /// If two processes try, they leave one file, which is whole; both find it afterwards.
    ///
    /// - Returns: 0, or the `errno` of the failure; `EEXIST` if another process was first.
    package static func publish(_ bytes: [UInt8], to path: String) -> Int32 {
        let temporary = temporaryName(for: path)
        defer { unlink(temporary) }
        let failure = write(bytes, to: temporary)
        guard failure == 0 else { return failure }
        return link(temporary, path) == 0 ? 0 : errno
    }

    /// Replaces the file at `path` by a whole file with mode 0600. A process that opens it finds the old one or the new
    /// one, whatever happens meanwhile. If `path` is a link, the file that it leads to is replaced.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    package static func replace(_ bytes: [UInt8], at path: String) -> Int32 {
        let path = FileSystem.resolved(path)
        let temporary = temporaryName(for: path)
        defer { unlink(temporary) }
        let failure = write(bytes, to: temporary)
        guard failure == 0 else { return failure }
        return publish(file: temporary, as: path, replacing: true)
    }

    /// Gives a whole file its name, at once. An existing file of that name is replaced, or the call fails.
    ///
    /// - Returns: 0, or the `errno` of the failure; `EEXIST` if there is a file that must not be replaced.
    package static func publish(file: String, as path: String, replacing: Bool) -> Int32 {
        guard (replacing ? rename(file, path) : link(file, path)) == 0 else { return errno }
        do {
            try FileSystem.synchronizeFolder(of: path)
            return 0
        } catch {
            return error.number
        }
    }

    /// Writes a new file with mode 0600, and waits until the disk has it.
    private static func write(_ bytes: [UInt8], to path: String) -> Int32 {
        do throws(SystemError) {
            let file = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL)
            do throws(SystemError) {
                try file.write(bytes)
                try file.synchronize()
            } catch {
                file.close()
                throw error
            }
            return close(file.number) == 0 ? 0 : errno
        } catch {
            return error.number
        }
    }

    // MARK: - Temporary files

    /// A name beside `path` that no file has.
    package static func temporaryName(for path: String) -> String {
        "\(path).\(getpid())-\(UInt64.random(in: 0 ... .max)).new"
    }

    /// Removes the files that ``publish(_:to:)`` and ``replace(_:at:)`` have left because their process was killed.
    package static func removeTemporaries(of path: String) {
        for name in temporaries(of: path) { unlink(name) }
    }

    /// The files that ``temporaryName(for:)`` has named.
    package static func temporaries(of path: String) -> [String] {
        let folder = FileSystem.folder(of: path)
        let prefix = "\(path.split(separator: "/").last ?? "")."
        return FileSystem.names(in: folder).filter { $0.hasPrefix(prefix) && $0.hasSuffix(".new") }
            .map { "\(folder)/\($0)" }
    }
}
