internal import GRDBSQLite

/// The first octets of a database's file (https://sqlite.org/fileformat.html, section 1.3).
struct DatabaseHeader {
    private static let size: Int32 = 100
    private static let mark = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]

    /// Reads the header and no more; `nil` where the file cannot be opened.
    init?(_ path: String) {
        // SQLite's own size is 0 for a file of one byte, which is not the user's to lose.
        guard let file = SystemFile(path, SQLITE_OPEN_READONLY), let count = PrivateFile.size(path) else { return nil }
        // What a shorter file does not have is zeros.
        var bytes = [UInt8](repeating: 0, count: Int(DatabaseHeader.size))
        let reading = file.read(into: &bytes)
        guard reading & 0xFF == SQLITE_OK || reading == DatabaseHeader.shortRead else { return nil }
        self.bytes = Array(bytes.prefix(Int(clamping: count)))
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
