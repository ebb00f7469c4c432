internal import CookieModel

/// The contents of a jar that a transaction has left in memory.
struct RememberedJar: Sendable {
    /// The sites that were decided on, those without cookies included. Nothing is decided on a value but how long it is,
    /// so none is opened.
    var store = CookieStore()
    /// How many sites are there.
    var siteCount = 0
    /// The expired cookies of those sites whose rows still exist.
    var expired: [Octets: ExpiredCookies] = [:]
    /// How far the jar has come; `nil` if it is not known.
    var end: JournalEnd?
}

/// The memory of the writing connection between transactions: the sites of recent batches, so that the next response of
/// a server does not read them again.
///
/// The sites are valid until another connection writes. Within the transaction, which excludes others, the memory
/// checks whether another connection has written, and how many rows this connection has changed otherwise.
///
/// `@unchecked` because the compiler cannot see that only code within the serial queue of an SQLite database uses the
/// mutable state. With a server, threads share only the key ring: each transaction has a memory of its own.
final class WriterMemory: @unchecked Sendable {
    /// How many sites of a jar are kept.
    private static let siteLimit = 512
    /// How many jars are kept.
    private static let jarLimit = 32

    private let keyRing: KeyRing
    /// The nonces for the values that its transactions seal.
    var nonces = NonceSequence()
    private var jars: [Int64: RememberedJar] = [:]
    /// The version after the last transaction; `nil` if that failed.
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
        // Checked within the transaction: a value sealed under a key that has just been removed would be lost.
        if !isCurrent(connection) { try keyRing.renew(connection) }
    }

    /// Ensures that values are sealed under the newest key, in a transaction of a server.
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

    /// Hands the remembered state of a jar to a batch. It is forgotten unless the batch gives it back.
    func take(_ id: Int64, _ connection: Connection) -> RememberedJar {
        if !isUnchangedHere(connection) {
            forget(connection)
            hasOtherChanges = true
        }
        return jars.removeValue(forKey: id) ?? RememberedJar()
    }

    /// Stores the state of a jar after a batch; `nil` if it is unknown.
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
