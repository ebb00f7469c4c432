internal import CookieModel

/// The contents of a jar that are known after a transaction.
struct RememberedJar: Sendable {
    /// The sites that were decided on, those without cookies included. Nothing is decided on a value but how long it is,
    /// so none is opened.
    var store = CookieStore()
    /// How many sites are there.
    var siteCount = 0
    /// The cookies of those sites that have expired and whose rows are still there.
    var expired: [Octets: ExpiredCookies] = [:]
    /// How far the jar has come; `nil` if it is not known.
    var end: JournalEnd?
}

/// The memory of the writing connection between transactions: the sites that were decided on lately, so that
/// a server's next response need not read them again.
///
/// The sites are valid until another connection writes: within the transaction, which keeps others out, the connection is
/// asked whether another one did, and how many rows this one changed besides.
///
/// `@unchecked` because the compiler cannot see that only code within the serial queue of a SQLite database uses the
/// mutable state. Of a database on a server, threads share only the key ring: each transaction has a memory of its own.
final class WriterMemory: @unchecked Sendable {
    /// How many sites of a jar are kept.
    private static let siteLimit = 512
    /// How many jars are kept.
    private static let jarLimit = 32

    private let keyRing: KeyRing
    /// The nonces of what is sealed in its transactions.
    var nonces = NonceSequence()
    private var jars: [Int64: RememberedJar] = [:]
    /// The version that the last transaction left; `nil` where it failed.
    private var dataVersion: UInt32?
    /// How many rows the connection had changed when the last batch ended.
    private var changeCount: Int64 = 0
    /// Whether this connection has changed other rows since ``isCurrent(_:)``.
    private var hasOtherChanges = false

    init(_ keyRing: KeyRing) {
        self.keyRing = keyRing
    }

    /// Begins a transaction that holds the write lock.
    func begin(_ connection: Connection) throws {
        // Within the transaction: a value sealed under a key that was just given up would be lost.
        if !isCurrent(connection) { try keyRing.renew(connection) }
    }

    /// Sees to it that values are sealed under the newest key, in a transaction of a server.
    func checkKey(_ connection: Connection) throws {
        try keyRing.renew(connection)
    }

    /// Whether nothing but batches wrote since the last transaction; where something did, forgets the sites.
    func isCurrent(_ connection: Connection) -> Bool {
        let version = connection.dataVersion
        let isUnchanged = version != nil && version == dataVersion && isUnchangedHere(connection)
        if !isUnchanged { forget(connection) }
        defer { hasOtherChanges = false }
        return isUnchanged && !hasOtherChanges
    }

    /// Ends a transaction that was committed.
    func commit(_ connection: Connection) {
        dataVersion = connection.dataVersion
    }

    /// Ends a transaction that failed.
    func rollBack(_ connection: Connection) {
        forget(connection)
        dataVersion = nil
    }

    /// Gives what is known of a jar to a batch. It is forgotten where the batch does not give it back.
    func take(_ id: Int64, _ connection: Connection) -> RememberedJar {
        if !isUnchangedHere(connection) {
            forget(connection)
            hasOtherChanges = true
        }
        return jars.removeValue(forKey: id) ?? RememberedJar()
    }

    /// Takes back what is known of a jar after a batch; `nil` for nothing.
    func keep(_ jar: RememberedJar?, ofJar id: Int64, _ connection: Connection) {
        changeCount = connection.totalChangeCount
        guard let jar, jar.siteCount <= WriterMemory.siteLimit else { return }
        if jars.count >= WriterMemory.jarLimit { jars.removeAll() }
        jars[id] = jar
    }

    /// Whether this connection changed no rows but those of batches.
    private func isUnchangedHere(_ connection: Connection) -> Bool {
        connection.totalChangeCount == changeCount
    }

    private func forget(_ connection: Connection) {
        jars.removeAll()
        changeCount = connection.totalChangeCount
    }
}
