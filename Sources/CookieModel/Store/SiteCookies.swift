/// The cookies of one registrable domain, packed into one run of bytes in the order of a header.
///
/// A retrieval reads the run from one end to the other, sorts nothing and follows no pointer; a cookie costs its octets
/// and ``CookieRecordHeader``. A change writes the run anew: it is as long as one site's cookies.
package struct SiteCookies: Sendable {
    private(set) var storage: [UInt8] = []
    /// The number of cookies.
    package private(set) var count = 0
    /// How many of them are partitioned.
    private(set) var partitionedCount = 0
    /// No cookie here expires before this moment.
    private var earliestExpiry = Int64.max

    /// No cookies.
    package init() {}

    /// The cookies given, put in order.
    package init(_ cookies: [Cookie]) {
        for cookie in cookies.sorted(by: { $0.precedes($1) }) {
            let record = CookieRecordHeader(cookie)
            replace(storage.count..<storage.count, with: cookie, record)
            noteInsertion(of: record)
        }
    }

    /// Whether some cookie may have expired before `now`; false where none has.
    @inline(__always)
    func mayHaveExpired(at now: Timestamp) -> Bool {
        earliestExpiry < now.microseconds
    }

    /// All cookies, in the order of a header.
    package var cookies: [Cookie] {
        var cookies: [Cookie] = []
        cookies.reserveCapacity(count)
        forEach { cookie, _ in cookies.append(cookie.cookie) }
        return cookies
    }

    /// Calls `body` with every cookie and its place, in the order of a header.
    @inline(__always)
    func forEach(_ body: (borrowing PackedCookie, Range<Int>) -> Void) {
        storage.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let cookie = PackedCookie(bytes: bytes, offset: offset)
                let end = offset + cookie.header.byteCount
                body(cookie, offset..<end)
                offset = end
            }
        }
    }

    /// Calls `body` with every cookie, in the order of a header, and notes an access at `now` of those for which it
    /// returns true.
    @inline(__always)
    mutating func touch(at now: Timestamp, where body: (borrowing PackedCookie) -> Bool) {
        storage.withUnsafeMutableBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let cookie = PackedCookie(bytes: UnsafeRawBufferPointer(bytes), offset: offset)
                if body(cookie) { CookieRecordHeader.setLastAccess(now, in: bytes, at: offset) }
                offset += cookie.header.byteCount
            }
        }
    }

    /// Removes the cookies for which `isGone` holds.
    ///
    /// - Returns: the cookies removed.
    @discardableResult
    package mutating func remove(where isGone: (borrowing PackedCookie) -> Bool) -> [Cookie] {
        var kept = SiteCookies()
        var removed: [Cookie] = []
        kept.storage.reserveCapacity(storage.count)
        forEach { cookie, place in
            if isGone(cookie) {
                removed.append(cookie.cookie)
            } else {
                kept.storage += storage[place]
                kept.noteInsertion(of: cookie.header)
            }
        }
        if !removed.isEmpty { kept.storage = Array(kept.storage) }
        self = kept
        return removed
    }

    /// Removes the cookies that have expired.
    ///
    /// - Returns: the cookies removed.
    @discardableResult
    package mutating func removeExpired(at now: Timestamp) -> [Cookie] {
        mayHaveExpired(at: now) ? remove { $0.hasExpired(at: now) } : []
    }

    /// Removes the record at `place`.
    mutating func remove(at place: Range<Int>, _ record: CookieRecordHeader) {
        storage = Array(storage[..<place.lowerBound] + storage[place.upperBound...])
        count -= 1
        if record.isPartitioned { partitionedCount -= 1 }
    }

    /// Puts a cookie in front of the record at `offset`.
    mutating func insert(_ cookie: borrowing Cookie, _ record: CookieRecordHeader, at offset: Int) {
        replace(offset..<offset, with: cookie, record)
        noteInsertion(of: record)
    }

    /// Writes a cookie over the record of the one with the same ID.
    mutating func replace(_ place: Range<Int>, with cookie: borrowing Cookie, _ record: CookieRecordHeader) {
        let length = storage.count - place.count + record.byteCount
        storage = [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            let target = UnsafeMutableRawBufferPointer(buffer)
            storage.withUnsafeBytes { source in
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<place.lowerBound]))
                let rest = place.lowerBound + record.byteCount
                UnsafeMutableRawBufferPointer(rebasing: target[rest...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[place.upperBound...]))
            }
            record.write(cookie, to: target, at: place.lowerBound)
            initialized = length
        }
        noteExpiry(of: record)
    }

    private mutating func noteInsertion(of record: CookieRecordHeader) {
        count += 1
        if record.isPartitioned { partitionedCount += 1 }
        noteExpiry(of: record)
    }

    private mutating func noteExpiry(of record: CookieRecordHeader) {
        if let expiry = record.expiry { earliestExpiry = min(earliestExpiry, expiry.microseconds) }
    }
}
