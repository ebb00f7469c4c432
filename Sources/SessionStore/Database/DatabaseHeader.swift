internal import GRDBSQLite

/// The first octets of a database's file (https://sqlite.org/fileformat.html, section 1.3).
struct DatabaseHeader {
    private static let size: Int32 = 100
    private static let mark = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]

    /// Reads the header and no more; `nil` where the file cannot be opened.
    ///
    /// It goes through SQLite's own files: when any other descriptor of a database is closed, the process loses the
    /// locks that its connections have on it, and somebody else may take the log away under them.
    init?(_ path: String) {
        guard let system = sqlite3_vfs_find(nil), let location = DatabaseHeader.location(path, system),
            let name = sqlite3_create_filename(location, "", "", 0, nil)
        else { return nil }
        defer { sqlite3_free_filename(name) }
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Int(system.pointee.szOsFile), alignment: MemoryLayout<UInt64>.alignment)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
        let file = memory.bindMemory(to: sqlite3_file.self, capacity: 1)
        let code = system.pointee.xOpen?(system, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nil)
        guard let methods = file.pointee.pMethods?.pointee else { return nil }
        defer { _ = methods.xClose?(file) }
        // SQLite's own size is 0 for a file of one byte, which is not the user's to lose.
        guard code == SQLITE_OK, let count = PrivateFile.size(path) else { return nil }
        // What a shorter file does not have is zeros.
        var bytes = [UInt8](repeating: 0, count: Int(DatabaseHeader.size))
        let reading = bytes.withUnsafeMutableBytes { methods.xRead?(file, $0.baseAddress, DatabaseHeader.size, 0) }
        guard let reading, reading & 0xFF == SQLITE_OK || reading == DatabaseHeader.shortRead else { return nil }
        self.bytes = Array(bytes.prefix(Int(clamping: count)))
    }

    /// Where the file lies, links followed: SQLite opens none of them.
    private static func location(_ path: String, _ system: UnsafeMutablePointer<sqlite3_vfs>) -> [CChar]? {
        var location = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
        let code = system.pointee.xFullPathname?(system, path, Int32(location.count), &location)
        return code == SQLITE_OK || code == SQLITE_OK | 2 << 8 ? location : nil
    }

    /// SQLITE_IOERR_SHORT_READ
    private static let shortRead = SQLITE_IOERR | 2 << 8

    /// Whether the file is empty, as one is that is to become a database.
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether this is the header of a database.
    var isDatabase: Bool { bytes.count == DatabaseHeader.size && bytes.starts(with: DatabaseHeader.mark) }

    /// Whose database it is.
    var applicationID: UInt32 { bytes.count < 72 ? 0 : bytes[68..<72].reduce(0) { $0 << 8 | UInt32($1) } }

    /// Whether its journal is written ahead: the versions of the format for writing and for reading say so.
    var hasWriteAheadLog: Bool { isDatabase && bytes[18] == 2 && bytes[19] == 2 }
}
