internal import CookieModel

/// What ``SiteCache`` asks the database, on a connection of its own.
final class SiteReader {
    /// What tells whether something changed, and whether values can be opened.
    struct Status {
        /// The position that the jar's next change gets; `nil` where the jar is gone.
        let nextChange: Int64?
        /// The id of the key that seals.
        let newestKey: UInt32?
    }

    let connection: ReadingConnection
    private let cookies: RowStatement
    private let status: RowStatement
    private let changes: RowStatement
    private var scratch = SealedSite.scratch

    init(_ database: SessionDatabase) throws {
        connection = try ReadingConnection(database.file, busyTimeout: database.busyTimeout)
        cookies = try connection.prepare(CookieRows.siteQuery)
        status = try connection.prepare(
            "SELECT (\(ChangeRows.nextPositionQuery)), (SELECT max(id) FROM sealing_key)")
        changes = try connection.prepare(
            "SELECT position, site FROM cookie_change WHERE id > ? AND id <= ? ORDER BY id")
    }

    /// The cookies of a site, values sealed.
    func cookies(site: Octets, ofJar id: Int64) throws -> SealedSite {
        try CookieRows.cookies(site: site, ofJar: id, by: cookies, &scratch)
    }

    /// How far a jar's journal is, and the newest key.
    func status(ofJar id: Int64) throws -> Status {
        status.bind(1, id)
        defer { status.reset() }
        guard try status.step() else { return Status(nextChange: nil, newestKey: nil) }
        return Status(
            nextChange: status.optionalInt64(0),
            newestKey: status.optionalInt64(1).map { UInt32(truncatingIfNeeded: $0) })
    }

    /// The sites of the changes after `first` up to `last`; `nil` where the journal does not have each of them any
    /// more.
    func sites(ofJar id: Int64, changedAfter first: Int64, upTo last: Int64) throws -> Set<Octets>? {
        changes.bind(1, ChangeRows.id(first, ofJar: id))
        changes.bind(2, ChangeRows.id(last, ofJar: id))
        defer { changes.reset() }
        var sites: Set<Octets> = []
        var position = first
        while try changes.step() {
            position += 1
            guard changes.int64(0) == position else { return nil }
            sites.insert(Octets(changes.bytes(1)))
        }
        return position == last ? sites : nil
    }
}
