/// The cookies of one registrable domain, packed into one run of bytes in the order of a header.
///
/// A retrieval reads the run from one end to the other, sorts nothing and follows no pointer; a cookie costs its octets
/// and ``CookieRecordHeader``. A change writes the run anew: it is as long as one site's cookies.
struct PackedCookies: Sendable {
    private var storage: [UInt8] = []
    /// The number of cookies.
    private(set) var count = 0
    /// No cookie here expires before this moment.
    private var earliestExpiry = Int64.max

    /// Whether some cookie may have expired before `now`; false where none has.
    func mayHaveExpired(at now: Timestamp) -> Bool {
        earliestExpiry < now.microseconds
    }

    /// All cookies, in the order of a header.
    var cookies: [Cookie] {
        var cookies: [Cookie] = []
        cookies.reserveCapacity(count)
        forEach { cookies.append($0.cookie) }
        return cookies
    }

    /// Calls `body` with every cookie, in the order of a header, in place.
    @inline(__always)
    func forEach(_ body: (borrowing PackedCookie) -> Void) {
        storage.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let cookie = PackedCookie(bytes: bytes, offset: offset)
                body(cookie)
                offset += cookie.header.byteCount
            }
        }
    }

    /// Notes at `now` that the cookies for which `isIncluded` holds were sent, and calls `body` with each.
    @inline(__always)
    mutating func touch(
        at now: Timestamp, where isIncluded: (borrowing PackedCookie) -> Bool, _ body: (borrowing PackedCookie) -> Void
    ) {
        storage.withUnsafeMutableBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let cookie = PackedCookie(bytes: UnsafeRawBufferPointer(bytes), offset: offset)
                if isIncluded(cookie) {
                    body(cookie)
                    CookieRecordHeader.setLastAccess(now, in: bytes, at: offset)
                }
                offset += cookie.header.byteCount
            }
        }
    }

    /// Puts a cookie in its place.
    ///
    /// - Parameter isReplacement: whether there is one with the same ID, which goes out.
    mutating func insert(_ cookie: borrowing Cookie, isReplacement: Bool) {
        let record = CookieRecordHeader(cookie)
        let start = insertionPlace(for: cookie)
        let old = (isReplacement ? place(of: cookie.id) : nil) ?? start..<start
        let length = storage.count - old.count + record.byteCount
        storage = [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            let target = UnsafeMutableRawBufferPointer(buffer)
            storage.withUnsafeBytes { source in
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<old.lowerBound]))
                let rest = old.lowerBound + record.byteCount
                UnsafeMutableRawBufferPointer(rebasing: target[rest...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[old.upperBound...]))
            }
            record.write(cookie, to: target, at: old.lowerBound)
            initialized = length
        }
        if old.isEmpty { count += 1 }
        if let expiry = cookie.expiry { earliestExpiry = min(earliestExpiry, expiry.microseconds) }
    }

    /// Removes the cookies for which `isGone` holds.
    ///
    /// - Returns: the cookies removed.
    @discardableResult
    mutating func remove(where isGone: (borrowing PackedCookie) -> Bool) -> [Cookie] {
        var kept: [UInt8] = []
        var removed: [Cookie] = []
        var earliest = Int64.max
        kept.reserveCapacity(storage.count)
        storage.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let cookie = PackedCookie(bytes: bytes, offset: offset)
                if isGone(cookie) {
                    removed.append(cookie.cookie)
                } else {
                    kept += bytes[offset..<(offset + cookie.header.byteCount)]
                    if let expiry = cookie.header.expiry { earliest = min(earliest, expiry.microseconds) }
                }
                offset += cookie.header.byteCount
            }
        }
        earliestExpiry = earliest
        guard !removed.isEmpty else { return [] }
        storage = Array(kept)
        count -= removed.count
        return removed
    }

    /// Where the cookie with that ID stands.
    private func place(of id: Cookie.ID) -> Range<Int>? {
        storage.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let cookie = PackedCookie(bytes: bytes, offset: offset)
                if cookie.hasID(id) { return offset..<(offset + cookie.header.byteCount) }
                offset += cookie.header.byteCount
            }
            return nil
        }
    }

    /// In front of which cookie a new one belongs.
    private func insertionPlace(for cookie: borrowing Cookie) -> Int {
        storage.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let other = CookieRecordHeader(bytes, at: offset)
                if cookie.precedes(
                    pathCount: other.pathCount, creation: other.creation, sequence: other.sequence)
                {
                    return offset
                }
                offset += other.byteCount
            }
            return offset
        }
    }
}

extension PackedCookies: ExistingCookies {
    func cookie(_ id: Cookie.ID) -> Cookie? {
        place(of: id).map { place in
            storage.withUnsafeBytes { PackedCookie(bytes: $0, offset: place.lowerBound).cookie }
        }
    }

    func containsSecureCookie(overlaidBy cookie: Cookie) -> Bool {
        var found = false
        forEach { old in
            // Most cookies differ in these two.
            if old.header.isSecure, old.hasName(cookie.name), CookiePolicy.overlays(cookie, old.cookie) { found = true }
        }
        return found
    }
}
