internal import CookieModel
internal import GRDB
internal import GRDBSQLite

/// What is known of a jar after a transaction.
struct RememberedJar {
    /// The sites that were decided on; `nil` for none.
    var store: CookieStore?
    /// How many sites are there.
    var siteCount = 0
    /// The cookies of those sites that have expired and whose rows are still there.
    var expired: [Octets: ExpiredCookies] = [:]
    /// `nil` where it is not known.
    var end: JournalEnd?
}

/// What the connection that writes keeps from one transaction to the next: prepared statements, and the sites that were
/// decided on lately, so that a server's next response need not read them again.
///
/// The sites count for as long as nobody else wrote: within the transaction, which keeps others out, SQLite is asked
/// whether another connection did, and how many rows this one changed besides.
///
/// `@unchecked` because the compiler cannot see that only the thread within the database's queue touches it.
final class WriterMemory: @unchecked Sendable {
    /// How many sites of a jar are kept.
    private static let siteLimit = 512
    /// How many jars are kept.
    private static let jarLimit = 32

    let statements = PreparedStatements()
    /// The nonces of what is sealed in its transactions.
    var nonces = NonceSequence()
    private var jars: [Int64: RememberedJar] = [:]
    /// SQLite's number of the version that the last transaction left; `nil` where it failed.
    private var dataVersion: UInt32?
    /// How many rows the connection had changed when the last batch ended.
    private var changeCount: Int64 = 0
    /// Whether this connection changed rows besides since ``begin(_:)``.
    private var hasOtherChanges = false

    /// Begins a transaction that holds the write lock.
    ///
    /// - Returns: whether nothing but batches wrote since the last one.
    func begin(_ database: Database) -> Bool {
        let isUnchanged = WriterMemory.dataVersion(database) == dataVersion && isUnchangedHere(database)
        if !isUnchanged { forget(database) }
        defer { hasOtherChanges = false }
        return isUnchanged && !hasOtherChanges
    }

    /// Ends a transaction that was committed.
    func commit(_ database: Database) {
        dataVersion = WriterMemory.dataVersion(database)
    }

    /// Ends a transaction that failed.
    func rollBack(_ database: Database) {
        forget(database)
        dataVersion = nil
    }

    /// Gives what is known of a jar to a batch. It is forgotten where the batch does not give it back.
    func take(_ id: Int64, _ database: Database) -> RememberedJar {
        if !isUnchangedHere(database) {
            forget(database)
            hasOtherChanges = true
        }
        return jars.removeValue(forKey: id) ?? RememberedJar()
    }

    /// Takes back what is known of a jar after a batch; `nil` for nothing.
    func keep(_ jar: RememberedJar?, ofJar id: Int64, _ database: Database) {
        changeCount = sqlite3_total_changes64(database.sqliteConnection)
        guard let jar, jar.siteCount <= WriterMemory.siteLimit else { return }
        if jars.count >= WriterMemory.jarLimit { jars.removeAll() }
        jars[id] = jar
    }

    /// Whether this connection changed no rows but those of batches.
    private func isUnchangedHere(_ database: Database) -> Bool {
        sqlite3_total_changes64(database.sqliteConnection) == changeCount
    }

    private func forget(_ database: Database) {
        jars.removeAll()
        changeCount = sqlite3_total_changes64(database.sqliteConnection)
    }

    private static func dataVersion(_ database: Database) -> UInt32? {
        var version: UInt32 = 0
        let result = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return result == SQLITE_OK ? version : nil
    }
}
