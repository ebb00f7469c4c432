internal import CookieModel

/// A row that begins with the columns of ``CookieRows``, its octets put behind those of other rows.
struct CookieRow {
    private let start, pathStart, nameStart, partitionStart, valueStart, end: UInt32
    private let isHostOnly: Bool
    private let isSecure: Bool
    private let isHTTPOnly: Bool
    private let sameSite: SameSite
    private let expiry: Timestamp?
    private let creation: Timestamp
    private let sequence: Int64
    /// The last-access-time.
    var lastAccess: Timestamp

    /// The row at hand; its domain, path, name, partition and value go to the end of `memory`.
    init(_ statement: RowStatement, _ memory: inout [UInt8]) {
        start = memory.appending(statement.borrowedBytes(0))
        pathStart = memory.appending(statement.borrowedBytes(1))
        nameStart = memory.appending(statement.borrowedBytes(2))
        partitionStart = memory.appending(statement.borrowedBytes(4))
        valueStart = memory.appending(statement.borrowedBytes(5))
        end = UInt32(truncatingIfNeeded: memory.count)
        isHostOnly = statement.int64(3) != 0
        isSecure = statement.int64(6) != 0
        isHTTPOnly = statement.int64(7) != 0
        sameSite = statement.sameSite(8)
        expiry = statement.optionalTimestamp(9)
        creation = statement.timestamp(10)
        sequence = statement.int64(11)
        lastAccess = statement.timestamp(12)
    }

    /// The cookie, its octets cut from the memory that they were put into.
    func cookie(in memory: Octets) -> Cookie {
        let partition = memory[partitionStart, valueStart]
        return Cookie(
            id: Cookie.ID(
                name: memory[nameStart, partitionStart], domain: WebHost(stored: memory[start, pathStart]),
                isHostOnly: isHostOnly, path: memory[pathStart, nameStart],
                partitionKey: partition.isEmpty
                    ? nil : PartitionKey(serialized: String(decoding: partition, as: UTF8.self))),
            value: memory[valueStart, end], isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
            expiry: expiry, creation: creation, lastAccess: lastAccess, sequence: sequence)
    }

    /// The cookie in the memory that its octets were put into, without its value.
    func inPlace(_ memory: UnsafeRawBufferPointer) -> CookieView {
        CookieView(
            domain: memory[start, pathStart], path: memory[pathStart, nameStart],
            name: memory[nameStart, partitionStart], partitionKey: memory[partitionStart, valueStart],
            isHostOnly: isHostOnly, isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite, expiry: expiry,
            creation: creation, sequence: sequence)
    }

    /// The value, sealed.
    func value(_ memory: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        memory[valueStart, end]
    }
}

extension UnsafeRawBufferPointer {
    fileprivate subscript(start: UInt32, end: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[Int(start)..<Int(end)])
    }
}

extension [UInt8] {
    /// Appends bytes and says where they begin. The rows of a site are far from 4 GiB.
    fileprivate mutating func appending(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let start = UInt32(truncatingIfNeeded: count)
        append(contentsOf: bytes)
        return start
    }
}

extension Octets {
    fileprivate subscript(start: UInt32, end: UInt32) -> Octets {
        self[Int(start)..<Int(end)]
    }
}

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

/// A row of the `cookie` table: the cookie with its value sealed, its site, and where the value came from.
struct StoredCookie {
    /// The cookie, its value sealed.
    var cookie: Cookie
    /// The registrable domain.
    let site: Octets
    /// Where the value came from.
    var source: Source

    /// What a row says of where its value came from.
    struct Source {
        /// The capture that the value came out of; `nil` for a live response.
        var captureID: Int64?
        /// The URL that set it, without its query.
        let url: Octets?
        /// When the response came that set it.
        var received: Timestamp?
        /// When its answer had come, if that was later; in no row.
        var answered: Timestamp?
    }

    /// When the cookie last changed: when the response came, or where that is not known, when it was created.
    var lastUpdate: Timestamp { source.received ?? cookie.creation }
}
