/// How a file and a server differ, one trait for each difference, so that the code above the engines need not know which
/// one runs.
struct EngineTraits: Sendable {
    /// Whether several machines use the database. Then each has the keys before the database does, services do the
    /// housekeeping, and logins in progress are stored.
    let isShared: Bool
    /// Whether transactions lock jars and rows, so that others write meanwhile. Otherwise there is one writer at a time.
    let hasRowLocks: Bool
    /// Whether a join reads its tables in the order in which it names them.
    let joinsInOrder: Bool
    /// Whether a cookie refers to its capture by the ids of both the jar and the capture. Otherwise the capture's id
    /// suffices.
    let referencesCapturesByJar: Bool
    /// Whether a row can refer to one that is gone, as in a file that another program has changed.
    let mayHaveOrphans: Bool
    /// How many octets of a cookie's identity the index takes (``Cookie/ID/octetCount``); `nil` for any number.
    let identityLimit: Int?

    static let file = EngineTraits(
        isShared: false, hasRowLocks: false, joinsInOrder: true, referencesCapturesByJar: false, mayHaveOrphans: true,
        identityLimit: nil)

    /// A row of a PostgreSQL index has 2,704 octets at most, some of which are not the identity's.
    static let server = EngineTraits(
        isShared: true, hasRowLocks: true, joinsInOrder: false, referencesCapturesByJar: true, mayHaveOrphans: false,
        identityLimit: 2600)
}
