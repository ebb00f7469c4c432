import WebPrimitives

/// The cookies of one registrable domain: their octets in one run of bytes, and entries in the order of a header.
///
/// A site of very many cookies has an index by ID besides, and its entries are put in order when they are read:
/// receiving n cookies takes no more than n log n steps, however many there may be.
///
/// A retrieval follows the entries, sorts nothing and follows no pointer; a search for a cookie reads the entries alone.
/// A store that seals its values can keep them here as they are and open those that are sent. A cookie costs its octets, ``CookieRecordHeader`` and ``CookieEntry``.
package struct SiteCookies: Sendable {
    private(set) var entries: [CookieEntry] = []
    /// Where the entries of each ID are, in a large site that cookies are received in; `nil` in others.
    private var places: [UInt64: [Int]]?
    /// Whether the entries are in the order of a header.
    private var isInOrder = true
    /// Whether all entries have the hash of their ID: those of rows get it for the first search.
    private var hasIDHashes = true
    /// The records, and room for more.
    private var storage: [UInt8] = []
    /// How many bytes of the storage were written.
    private var byteCount = 0
    /// How many of them belong to no cookie any more.
    private var unusedByteCount = 0
    /// How many cookies are partitioned.
    private(set) var partitionedCount = 0
    /// How many unpartitioned cookies only requests told.
    private(set) var requestCount = 0
    /// How many of these there may be.
    static let requestLimit = 1000
    /// These, by name; `nil` before they were asked for.
    private var cookiesOfRequests: [Octets: [Cookie]]?
    /// No cookie here expires before this moment.
    private var earliestExpiry = Int64.max

    /// Whether values are still to be opened.
    package private(set) var hasSealedValues = false

    /// No cookies.
    package init() {}

    /// The cookies given, put in order.
    ///
    /// - Parameter value: how their values are: ``PackedValue/open`` or ``PackedValue/sealed``.
    package init(_ cookies: [Cookie], _ value: PackedValue = .open) {
        for cookie in cookies.sorted(by: { $0.precedes($1) }) {
            let record = CookieRecordHeader(cookie, value)
            insert(cookie, record, CookieEntry(cookie, record))
        }
        hasSealedValues = value == .sealed
    }

    /// The number of cookies.
    package var count: Int { entries.count }

    /// All cookies, in the order of a header.
    package var cookies: [Cookie] {
        var ordered = self
        ordered.putInOrder()
        var cookies: [Cookie] = []
        cookies.reserveCapacity(count)
        ordered.forEach { cookie, _ in cookies.append(cookie.cookie) }
        return cookies
    }

    /// The cookie of an entry.
    func cookie(at index: Int) -> Cookie {
        withCookie(at: index) { $0.cookie }
    }

    /// Calls `body` with the cookie of an entry, in place.
    @inline(__always)
    func withCookie<Result>(at index: Int, _ body: (borrowing PackedCookie) -> Result) -> Result {
        storage.withUnsafeBytes { body(PackedCookie(bytes: $0, offset: Int(entries[index].offset))) }
    }

    /// Calls `body` with every cookie and its index, in place.
    @inline(__always)
    func forEach(_ body: (borrowing PackedCookie, Int) -> Void) {
        storage.withUnsafeBytes { bytes in
            for index in entries.indices { body(PackedCookie(bytes: bytes, offset: Int(entries[index].offset)), index) }
        }
    }

    /// Calls `body` with every cookie, in the order of a header, and notes an access at `now` of those for which it
    /// returns true.
    @inline(__always)
    mutating func touch(at now: Timestamp, where body: (borrowing PackedCookie) -> Bool) {
        putInOrder()
        storage.withUnsafeMutableBytes { bytes in
            for entry in entries {
                let offset = Int(entry.offset)
                if body(PackedCookie(bytes: UnsafeRawBufferPointer(bytes), offset: offset)) {
                    CookieRecordHeader.setLastAccess(now, in: bytes, at: offset)
                }
            }
        }
    }

    /// Removes the cookies that have expired.
    ///
    /// - Returns: the cookies removed.
    @discardableResult
    package mutating func removeExpired(at now: Timestamp) -> [Cookie] {
        guard earliestExpiry < now.microseconds else { return [] }
        return remove { $0.hasExpired(at: now) }
    }

    /// Removes the cookies for which `isGone` holds.
    ///
    /// - Returns: the cookies removed.
    @discardableResult
    package mutating func remove(where isGone: (borrowing PackedCookie) -> Bool) -> [Cookie] {
        putInOrder()
        places = nil
        var removed: [Cookie] = []
        var kept: [CookieEntry] = []
        earliestExpiry = .max
        (partitionedCount, requestCount, cookiesOfRequests) = (0, 0, nil)
        for index in entries.indices {
            if withCookie(at: index, isGone) {
                removed.append(cookie(at: index))
            } else {
                kept.append(entries[index])
                note(withCookie(at: index) { $0.header })
            }
        }
        guard !removed.isEmpty else { return [] }
        entries = kept
        pack()
        return removed
    }

    /// Removes the cookie of an entry.
    mutating func remove(at index: Int) {
        let header = withCookie(at: index) { $0.header }
        if header.isPartitioned { partitionedCount -= 1 }
        if header.isOfRequest { countRequest(header, -1) }
        unusedByteCount += Int(removeEntry(at: index).byteCount)
        packWhereWorthwhile()
    }

    private mutating func countRequest(_ header: CookieRecordHeader, _ change: Int) {
        guard !header.isPartitioned else { return }
        requestCount += change
        cookiesOfRequests = nil
    }

    /// The unpartitioned cookies of a name that only requests told.
    mutating func cookiesOfRequests(named name: Octets) -> [Cookie] {
        if cookiesOfRequests == nil {
            var found: [Cookie] = []
            forEach { cookie, _ in
                if cookie.header.isOfRequest, !cookie.header.isPartitioned { found.append(cookie.cookie) }
            }
            cookiesOfRequests = Dictionary(grouping: found, by: \.name)
        }
        return cookiesOfRequests?[name] ?? []
    }

    /// Puts a cookie in its place in the order of a header, or after the others in a large site.
    mutating func insert(_ cookie: borrowing Cookie, _ record: CookieRecordHeader, _ entry: CookieEntry) {
        note(record)
        guard places == nil else {
            if let last = entries.last, entry.precedes(last) { isInOrder = false }
            places?[entry.idKey, default: []].append(entries.count)
            entries.append(entry)
            entries[entries.count - 1].offset = append(cookie, record)
            return
        }
        var index = 0
        var end = entries.count
        while index < end {
            let middle = (index + end) / 2
            if entry.precedes(entries[middle]) { end = middle } else { index = middle + 1 }
        }
        if entries.capacity == entries.count { entries.reserveCapacity(entries.count + entries.count / 2 + 1) }
        entries.insert(entry, at: index)
        entries[index].offset = append(cookie, record)
    }

    /// How many cookies a site has from which on they are found by an index.
    static let indexedCount = 512

    /// Where the entries of a large site are that may have the ID of `candidate`; `nil` in a small one. Every search
    /// begins here.
    mutating func indices(ofCandidatesFor candidate: CookieEntry) -> [Int]? {
        if !hasIDHashes { setIDHashes() }
        guard entries.count >= SiteCookies.indexedCount else { return nil }
        if places == nil {
            places = Dictionary(grouping: entries.indices) { entries[$0].idKey }
        }
        return places?[candidate.idKey] ?? []
    }

    private mutating func setIDHashes() {
        storage.withUnsafeBytes { bytes in
            for index in entries.indices {
                entries[index].setIDHash(of: PackedCookie(bytes: bytes, offset: Int(entries[index].offset)))
            }
        }
        hasIDHashes = true
    }

    /// Removes an entry; in a large site the last one takes its place.
    private mutating func removeEntry(at index: Int) -> CookieEntry {
        guard places != nil else { return entries.remove(at: index) }
        let removed = entries[index]
        places?[removed.idKey]?.removeAll { $0 == index }
        let last = entries.count - 1
        if index < last {
            isInOrder = false
            let key = entries[last].idKey
            places?[key]?.removeAll { $0 == last }
            places?[key, default: []].append(index)
            entries[index] = entries[last]
        }
        entries.removeLast()
        return removed
    }

    /// Puts the entries in the order of a header.
    private mutating func putInOrder() {
        guard !isInOrder else { return }
        entries.sort { $0.precedes($1) }
        places = nil
        isInOrder = true
    }

    /// Writes a cookie over the one of an entry, which has the same ID.
    mutating func replace(_ index: Int, with cookie: borrowing Cookie, _ record: CookieRecordHeader) {
        let header = withCookie(at: index) { $0.header }
        if header.isOfRequest { countRequest(header, -1) }
        if record.isOfRequest { countRequest(record, 1) }
        let old = entries[index]
        entries[index] = CookieEntry(cookie, record)
        if record.byteCount <= old.byteCount {
            entries[index].offset = old.offset
            storage.withUnsafeMutableBytes { record.write(cookie, to: $0, at: Int(old.offset)) }
            unusedByteCount += Int(old.byteCount) - record.byteCount
        } else {
            entries[index].offset = append(cookie, record)
            unusedByteCount += Int(old.byteCount)
        }
        noteExpiry(record)
        packWhereWorthwhile()
    }

    /// Writes a cookie after the others.
    ///
    /// - Returns: where it begins.
    private mutating func append(_ cookie: borrowing Cookie, _ record: CookieRecordHeader) -> UInt32 {
        let offset = makeRoom(for: record)
        storage.withUnsafeMutableBytes { record.write(cookie, to: $0, at: offset) }
        return UInt32(offset)
    }

    /// Makes room for a record after the others.
    ///
    /// - Returns: where it begins.
    private mutating func makeRoom(for record: CookieRecordHeader) -> Int {
        let offset = byteCount
        byteCount += record.byteCount
        // Some room for the next one, and none for a first one that may stay alone.
        if storage.count < byteCount { move(toRoomFor: byteCount + offset / 2) }
        return offset
    }

    private mutating func move(toRoomFor capacity: Int) {
        let old = storage
        storage = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
            let end = buffer.initialize(fromContentsOf: old)
            buffer[end..<capacity].initialize(repeating: 0)
            initialized = capacity
        }
    }

    private mutating func note(_ record: CookieRecordHeader) {
        if record.isPartitioned { partitionedCount += 1 }
        if record.isOfRequest { countRequest(record, 1) }
        noteExpiry(record)
    }

    private mutating func noteExpiry(_ record: CookieRecordHeader) {
        if let expiry = record.expiry { earliestExpiry = min(earliestExpiry, expiry.microseconds) }
    }

    private mutating func packWhereWorthwhile() {
        if unusedByteCount > byteCount / 2 { pack() }
    }

    /// Rewrites the storage without the bytes that belong to no cookie.
    private mutating func pack() {
        var packed: [UInt8] = []
        packed.reserveCapacity(entries.reduce(0) { $0 + Int($1.byteCount) })
        for index in entries.indices {
            let entry = entries[index]
            entries[index].offset = UInt32(packed.count)
            packed += storage[Int(entry.offset)..<Int(entry.offset + entry.byteCount)]
        }
        storage = packed
        byteCount = packed.count
        unusedByteCount = 0
    }
}

/// Sites of a store that keeps values sealed.
extension SiteCookies {
    /// No cookies, and room for those of a usual site, to gather rows in (``takeAll()``).
    package static var scratch: SiteCookies {
        var site = SiteCookies()
        site.storage = Array(repeating: 0, count: 8192)
        site.entries.reserveCapacity(64)
        return site
    }

    /// Adds a cookie with a sealed value, in any order.
    package mutating func append(
        domain: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer,
        partitionKey: UnsafeRawBufferPointer, sealedValue: UnsafeRawBufferPointer, isHostOnly: Bool,
        attributes: CookieAttributes, sameSite: SameSite, expiry: Timestamp?, creation: Timestamp,
        lastAccess: Timestamp,
        sequence: Int64
    ) {
        let record = CookieRecordHeader(
            .sealed,
            domain: WebHost.kind(ofCanonical: domain.assumingMemoryBound(to: UInt8.self).span),
            domainCount: domain.count, pathCount: path.count, nameCount: name.count,
            partitionCount: partitionKey.count, valueCount: sealedValue.count, isHostOnly: isHostOnly,
            attributes: attributes, sameSite: sameSite, expiry: expiry, creation: creation,
            lastAccess: lastAccess, sequence: sequence)
        note(record)
        hasSealedValues = true
        let offset = makeRoom(for: record)
        storage.withUnsafeMutableBytes { bytes in
            let memory = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<(offset + record.byteCount)])
            record.write(domain: domain, path: path, name: name, value: sealedValue, to: memory)
            memory.write(partitionKey, at: record.partitionPlace)
        }
        var entry = CookieEntry(record)
        entry.offset = UInt32(offset)
        hasIDHashes = false
        if let last = entries.last, entry.precedes(last) { isInOrder = false }
        entries.append(entry)
    }

    /// Takes the cookies out, in as much memory as they need; the room that they took here stays.
    package mutating func takeAll() -> SiteCookies {
        var taken = self
        // Copies: an array made of another one would share its memory, and all its room.
        taken.entries = entries.withUnsafeBufferPointer(Array.init)
        taken.storage = storage.withUnsafeBytes { Array(UnsafeRawBufferPointer(rebasing: $0[..<byteCount])) }
        var emptied = SiteCookies()
        swap(&emptied.entries, &entries)
        swap(&emptied.storage, &storage)
        emptied.entries.removeAll(keepingCapacity: true)
        self = emptied
        return taken
    }

    /// Opens all sealed values; those that cannot be opened are unreadable from now on.
    package mutating func openValues(_ open: (borrowing PackedCookie) -> Octets?) {
        guard hasSealedValues else { return }
        putInOrder()
        let sealed = storage
        var opened: [UInt8] = []
        opened.reserveCapacity(byteCount)
        sealed.withUnsafeBytes { bytes in
            for index in entries.indices {
                let packed = PackedCookie(bytes: bytes, offset: Int(entries[index].offset))
                let value = open(packed)
                let record = packed.header.with(value == nil ? .unreadable : .open, count: value?.count ?? 0)
                entries[index].offset = UInt32(opened.count)
                entries[index].byteCount = UInt32(record.byteCount)
                withUnsafeBytes(of: record) { opened += $0 }
                opened += packed.octetsBeforeValue
                value?.withOctets { opened += $0 }
            }
        }
        storage = opened.withUnsafeBufferPointer(Array.init)
        (byteCount, unusedByteCount) = (storage.count, 0)
        hasSealedValues = false
    }
}
