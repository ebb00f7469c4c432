internal import GRDB
internal import GRDBSQLite

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file that a connection has open, and whether it is still the one at its path.
///
/// A system lets go on with a file that was deleted: what is written there is gone with the process, though SQLite
/// reports success. So it is looked at where a transaction is about to be acknowledged.
struct OpenFile: Sendable {
    /// SQLite's own name of the file: absolute, whatever folder the process has gone to since, and without symbolic
    /// links; empty in memory.
    let location: [CChar]
    private let path: String
    /// The file and its write-ahead log, which stays the same for as long as anybody has the database open.
    private let places: FilePlaces

    /// The file that `database` has open, known to people as `path`.
    init(_ database: Database, path: String, clock: FilePlaces.Clock = FilePlaces.Clock()) throws {
        self.path = path
        let name = sqlite3_db_filename(database.sqliteConnection, "main")
        location = OpenFile.text(name)
        places = FilePlaces(
            location.count > 1 ? [location, OpenFile.text(sqlite3_filename_wal(name))] : [], clock: clock)
        try checkAfterOpening(database.sqliteConnection)
    }

    /// Refuses to open another file than this one by the name that it had.
    func checkBeforeOpening() throws {
        guard places.areFound else { throw moved }
    }

    /// Refuses to have opened another file than this one.
    func checkAfterOpening(_ connection: OpaquePointer?) throws {
        var hasMoved: Int32 = 0
        // Where there is no file, the question is not answered and nothing has moved.
        sqlite3_file_control(connection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0, places.areFound else { throw moved }
    }

    /// Refuses to go on where the file or its log is no longer in its place: what is written there would be lost, and
    /// the file that is there now may say something else.
    func check() throws {
        guard places.areKept else { throw moved }
    }

    private var moved: SessionStoreError {
        SessionStoreError(
            .databaseUnavailable, path,
            "the file or its write-ahead log was deleted or replaced while it was in use; nothing was read "
                + "or written. Start again")
    }

    /// A name of SQLite's with its end; that alone where there is no name.
    private static func text(_ name: UnsafePointer<CChar>?) -> [CChar] {
        name.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } ?? [0]
    }
}

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

/// Which file it is that lies at a path, whatever it is called.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// The file at `path`; `nil` where there is none.
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
