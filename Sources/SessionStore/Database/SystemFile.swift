internal import GRDBSQLite

/// A database's file, opened through SQLite's own layer for files, without its contents being looked at.
///
/// When any other descriptor of a database is closed, the process loses the locks that its connections hold on it, and
/// another process may take the log away under them. SQLite's layer knows of all of them.
final class SystemFile {
    private let memory: UnsafeMutableRawPointer
    private let name: UnsafePointer<CChar>
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    /// Opens a file; `nil` if it cannot be opened.
    ///
    /// - Parameter flags: `SQLITE_OPEN_READONLY` or `SQLITE_OPEN_READWRITE`.
    init?(_ path: String, _ flags: Int32) {
        guard let system = sqlite3_vfs_find(nil), let location = SystemFile.location(path, system),
            let name = sqlite3_create_filename(location, "", "", 0, nil)
        else { return nil }
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Int(system.pointee.szOsFile), alignment: MemoryLayout<UInt64>.alignment)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
        let file = memory.bindMemory(to: sqlite3_file.self, capacity: 1)
        let code = system.pointee.xOpen?(system, name, file, flags | SQLITE_OPEN_MAIN_DB, nil)
        guard let methods = file.pointee.pMethods?.pointee, code == SQLITE_OK else {
            _ = file.pointee.pMethods?.pointee.xClose?(file)
            memory.deallocate()
            sqlite3_free_filename(name)
            return nil
        }
        (self.memory, self.name, self.file, self.methods) = (memory, UnsafePointer(name), file, methods)
    }

    deinit {
        _ = methods.xClose?(file)
        memory.deallocate()
        sqlite3_free_filename(name)
    }

    /// Reads as many bytes as `bytes` has from the start of the file.
    ///
    /// - Returns: SQLite's code.
    func read(into bytes: inout [UInt8]) -> Int32 {
        let count = Int32(clamping: bytes.count)
        return bytes.withUnsafeMutableBytes { methods.xRead?(file, $0.baseAddress, count, 0) } ?? SQLITE_IOERR
    }

    /// Takes the lock that excludes every other connection, of this process and of all others, until this object goes.
    /// A connection holds its own lock for as long as it is open.
    ///
    /// - Returns: SQLite's code; `SQLITE_BUSY` if another connection is open.
    func lockExclusively() -> Int32 {
        for level in [SystemFile.shared, SystemFile.exclusive] {
            let code = methods.xLock?(file, level) ?? SQLITE_IOERR
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    /// SQLITE_LOCK_SHARED and SQLITE_LOCK_EXCLUSIVE.
    private static let (shared, exclusive): (Int32, Int32) = (1, 4)

    /// Where the file lies, links followed: SQLite opens none of them.
    private static func location(_ path: String, _ system: UnsafeMutablePointer<sqlite3_vfs>) -> [CChar]? {
        var location = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
        let code = system.pointee.xFullPathname?(system, path, Int32(location.count), &location)
        return code == SQLITE_OK || code == SQLITE_OK | 2 << 8 ? location : nil
    }
}
