internal import CSQLite
import Platform
internal import SQLite
internal import StoreEngine

/// The file that a connection has open, and whether it is still the one at its path.
///
/// A process can keep writing to a deleted file. The data disappears when the process exits, although SQLite reports
/// success. So each commit checks that the file is still at its path.
struct OpenFile: Sendable {
    /// SQLite's own name of the file: absolute, so changes of the working directory do not matter, and without symbolic
    /// links. Empty for a database in memory.
    let location: [CChar]
    private let path: String
    /// The file and its write-ahead log. The log stays the same file as long as any connection has the database open.
    private let places: FilePlaces

    /// The file that `database` has open. Errors call it `path`.
    init(_ database: DatabaseConnection, path: String, clock: FilePlaces.Clock = FilePlaces.Clock()) throws {
        self.path = path
        let name = sqlite3_db_filename(database.pointer, "main")
        location = OpenFile.text(name)
        places = FilePlaces(
            location.count > 1 ? [location, OpenFile.text(sqlite3_filename_wal(name))] : [], clock: clock)
        try checkAfterOpening(database.pointer)
    }

    /// Throws if another file than this one is at the path now.
    func checkBeforeOpening() throws {
        guard places.areFound else { throw moved }
    }

    /// Throws if the connection has opened another file than this one.
    func checkAfterOpening(_ connection: OpaquePointer?) throws {
        var hasMoved: Int32 = 0
        // Without a file, SQLite does not answer, and nothing has moved.
        sqlite3_file_control(connection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0, places.areFound else { throw moved }
    }

    /// Throws if the file or its log is no longer at its path: changes would be lost, and the file that is there now
    /// may have other contents.
    func check() throws {
        guard places.areKept else { throw moved }
    }

    private var moved: SessionStoreError {
        SessionStoreError(
            .databaseUnavailable, path,
            "the file or its write-ahead log was deleted or replaced while it was in use; nothing was read "
                + "or written. Start again")
    }

    /// A name from SQLite, with its terminating zero; only the zero if there is no name.
    private static func text(_ name: UnsafePointer<CChar>?) -> [CChar] {
        name.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } ?? [0]
    }
}

/// A database's file, opened through SQLite's own file layer, which does not interpret the contents.
///
/// When a process closes any other descriptor of a database, it loses the locks that its connections hold, and another
/// process may remove the log that they use. SQLite's layer knows all descriptors and avoids this.
package final class SystemFile {
    private let memory: UnsafeMutableRawPointer
    private let name: UnsafePointer<CChar>
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    /// Opens a file; `nil` if it cannot be opened.
    ///
    /// - Parameter isWritable: whether it is opened for writing, as a lock needs it.
    package init?(_ path: String, isWritable: Bool = false) {
        let flags = isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
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

    /// Takes the lock that excludes every other connection, of this process and of all others, until this object is
    /// deallocated. A connection holds its own lock as long as it is open.
    ///
    /// - Throws: ``StoreFailure``: busy if another connection is open.
    package func lockExclusively() throws {
        for level in [SystemFile.shared, SystemFile.exclusive] {
            let code = methods.xLock?(file, level) ?? SQLITE_IOERR
            guard code == SQLITE_OK else { throw StoreFailure(sqlite: code) }
        }
    }

    /// SQLITE_LOCK_SHARED and SQLITE_LOCK_EXCLUSIVE.
    private static let (shared, exclusive): (Int32, Int32) = (1, 4)

    /// The path of the file with links resolved: SQLite's layer does not follow links.
    private static func location(_ path: String, _ system: UnsafeMutablePointer<sqlite3_vfs>) -> [CChar]? {
        var location = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
        let code = system.pointee.xFullPathname?(system, path, Int32(location.count), &location)
        return code == SQLITE_OK || code == SQLITE_OK | 2 << 8 ? location : nil
    }
}
