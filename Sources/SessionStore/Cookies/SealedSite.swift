internal import CookieModel

/// The cookies of a site as their rows say, values sealed: a third of the memory that as many ``Cookie`` take.
struct SealedSite {
    private var octets: [UInt8] = []
    private var rows: [CookieRow] = []

    /// No rows, with room for those of a usual site.
    static var scratch: SealedSite {
        var site = SealedSite()
        site.octets.reserveCapacity(8192)
        site.rows.reserveCapacity(64)
        return site
    }

    /// How many cookies there are.
    var count: Int { rows.count }

    /// The rows that a statement gives.
    ///
    /// - Parameter scratch: where they are gathered: what is kept is as long as it need be.
    init(_ statement: RowStatement, by scratch: inout SealedSite) throws {
        defer {
            statement.reset()
            scratch.octets.removeAll(keepingCapacity: true)
            scratch.rows.removeAll(keepingCapacity: true)
        }
        while try statement.step() { scratch.rows.append(CookieRow(statement, &scratch.octets)) }
        // Copies: an array made of another one would share its memory, and all its room.
        octets = scratch.octets.withUnsafeBufferPointer(Array.init)
        rows = scratch.rows.withUnsafeBufferPointer(Array.init)
    }

    private init() {}

    /// The cookies, their octets in one piece of memory.
    var cookies: [Cookie] {
        let shared = Octets(octets)
        return rows.map { $0.cookie(in: shared) }
    }

    /// Notes when the cookies at these places were sent last.
    mutating func touch(_ places: some Sequence<Int>, at now: Timestamp) {
        for place in places { rows[place].lastAccess = now }
    }
}
