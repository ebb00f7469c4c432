internal import CSQLite

/// The index of the write-ahead log, in memory that all processes with an open connection share.
///
/// It is accessed through SQLite's own file: closing another descriptor of it would release the process's locks.
package struct WALIndex {
    /// The size of the index's first part, and of each further one.
    private static let partSize: Int32 = 32_768

    /// The header as one transaction has left it.
    ///
    /// Every commit of any connection changes it, and so does every restart of the log. SQLite itself compares it to
    /// find out whether its cached pages are still valid.
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

    /// The index that `connection` has in memory as long as it is open. The connection must have read the database
    /// before.
    init?(_ connection: OpaquePointer) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2,
            let map = methods.xShmMap, let barrier = methods.xShmBarrier
        else { return nil }
        var address: UnsafeMutableRawPointer?
        // This does not create an index: without one, there is nothing to read.
        let code = map(file, 0, WALIndex.partSize, 0, &address)
        guard code == SQLITE_OK || code == SQLITE_READONLY, let address else { return nil }
        self.address = UnsafeRawPointer(address)
        self.file = file
        self.barrier = barrier
    }

    /// The current header; `nil` while it is being written, and if it must be rebuilt.
    ///
    /// The index has two copies, one after the other. A writer begins with the second one and readers with the first,
    /// so a header whose copies are equal is complete.
    @inline(__always)
    var header: Header? {
        let first = Header(address)
        barrier(file)
        let second = Header(address + Header.size)
        return first == second && first.isInitialized ? first : nil
    }
}
