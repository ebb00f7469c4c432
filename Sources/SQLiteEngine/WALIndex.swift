internal import GRDBSQLite

/// The index of the write-ahead log, which lies in memory that all processes share that have the database open.
///
/// It is reached through SQLite's own file: another descriptor of it would take the process's locks along when it is
/// closed.
package struct WALIndex {
    /// The size of the index's first part, and of each further one.
    private static let partSize: Int32 = 32_768

    /// The header in the one state that a transaction left it in.
    ///
    /// Every commit of any connection changes it, and so does whatever begins the log anew. It is what SQLite itself
    /// compares to find out whether the pages that it has in memory still hold.
    package struct Header: Equatable, BitwiseCopyable {
        /// How many octets a header has (https://sqlite.org/walformat.html, section 2.1).
        fileprivate static let size = 48
        private static let initializedPlace = 12

        private let front: SIMD4<UInt64>
        private let back: SIMD2<UInt64>

        fileprivate init(_ address: UnsafeRawPointer) {
            front = address.loadUnaligned(as: SIMD4<UInt64>.self)
            back = address.loadUnaligned(fromByteOffset: 32, as: SIMD2<UInt64>.self)
        }

        fileprivate var isInitialized: Bool {
            withUnsafeBytes(of: self) { $0[Header.initializedPlace] != 0 }
        }
    }

    private let address: UnsafeRawPointer
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let barrier: @convention(c) (UnsafeMutablePointer<sqlite3_file>?) -> Void

    /// The index that `connection` has in memory for as long as it is open; it must have read the database before.
    init?(_ connection: OpaquePointer) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2,
            let map = methods.xShmMap, let barrier = methods.xShmBarrier
        else { return nil }
        var address: UnsafeMutableRawPointer?
        // Extends nothing: without an index, there is nothing to read.
        let code = map(file, 0, WALIndex.partSize, 0, &address)
        guard code == SQLITE_OK || code == SQLITE_READONLY, let address else { return nil }
        self.address = UnsafeRawPointer(address)
        self.file = file
        self.barrier = barrier
    }

    /// The header as it is now; `nil` while it is being written, and if it must be rebuilt.
    ///
    /// Two equal copies lie one behind the other. A writer begins with the second one and readers with the first, so
    /// that what is equal was written to its end.
    @inline(__always)
    var header: Header? {
        let first = Header(address)
        barrier(file)
        let second = Header(address + Header.size)
        return first == second && first.isInitialized ? first : nil
    }
}
