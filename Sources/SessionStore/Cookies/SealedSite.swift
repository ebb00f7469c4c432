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

    /// The cookie-string for a request, which opens only the values that go (section 5.8.3 of the draft); notes the
    /// access.
    mutating func cookieString(_ question: inout SiteQuestion) -> Octets {
        let jar = question.jar
        let rules = question.rules
        let sealer = jar.database.sealer
        return octets.withUnsafeBytes { memory in
            let cookies = rows.map { $0.inPlace(memory) }
            return rules.cookieString(from: cookies) { place in
                sealer.open(rows[place].value(memory), at: cookies[place].sealedPlace(jarID: jar.id))
            } noteAccess: { place in
                if question.accesses.note(
                    lastAccess: rows[place].lastAccess, rows[place].cookie(in: Octets(octets)).id)
                {
                    rows[place].lastAccess = rules.now
                }
            }
        }
    }

    /// Notes when the cookies at these places were sent last.
    mutating func touch(_ places: some Sequence<Int>, at now: Timestamp) {
        for place in places { rows[place].lastAccess = now }
    }
}
