import WebPrimitives

/// One cookie within ``SiteCookies``, in place.
package struct PackedCookie {
    let header: CookieRecordHeader
    private let bytes: UnsafeRawBufferPointer
    private let offset: Int

    @inline(__always)
    init(bytes: UnsafeRawBufferPointer, offset: Int) {
        header = CookieRecordHeader(bytes, at: offset)
        self.bytes = bytes
        self.offset = offset
    }

    @inline(__always)
    private func octets(_ place: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(offset + place.lowerBound)..<(offset + place.upperBound)])
    }

    var domainOctets: UnsafeRawBufferPointer { octets(header.domainPlace) }
    var pathOctets: UnsafeRawBufferPointer { octets(header.pathPlace) }
    var partitionKey: UnsafeRawBufferPointer { octets(header.partitionPlace) }
    var pair: UnsafeRawBufferPointer { octets(header.pairPlace) }

    func hasName(_ name: Octets) -> Bool {
        octets(header.namePlace).isEqual(to: name)
    }

    package func hasID(_ id: Cookie.ID) -> Bool {
        hasName(id.name) && header.isHostOnly == id.isHostOnly && pathOctets.isEqual(to: id.path)
            && domainOctets.isEqual(to: id.domain.octets)
            && header.isPartitioned == (id.partitionKey != nil)
            && (!header.isPartitioned || partitionKey.elementsEqual((id.partitionKey?.serialized ?? "").utf8))
    }

    /// The cookie, with storage of its own.
    var cookie: Cookie {
        let storage = Array(octets(header.domainPlace.lowerBound..<header.byteCount))
        let start = header.domainPlace.lowerBound
        func part(_ place: Range<Int>) -> Octets {
            Octets(storage, in: (place.lowerBound - start)..<(place.upperBound - start))
        }
        let id = Cookie.ID(
            name: part(header.namePlace), domain: WebHost(canonical: part(header.domainPlace), kind: header.kind),
            isHostOnly: header.isHostOnly, path: part(header.pathPlace),
            partitionKey: PartitionKey(serialized: String(decoding: partitionKey, as: UTF8.self)))
        var cookie = Cookie(
            id: id, value: part(header.valuePlace), isSecure: header.isSecure, isHTTPOnly: header.isHTTPOnly,
            sameSite: header.sameSite, expiry: header.expiry, creation: header.creation,
            lastAccess: header.lastAccess, sequence: header.sequence)
        if header.isOfRequest {
            let request = octets(header.requestPlace)
            cookie.request = CookieRequest(
                time: Timestamp(microseconds: request.loadUnaligned(as: Int64.self)),
                path: Octets(Array(request.dropFirst(Int(CookieRecordHeader.timeLength)))))
        }
        return cookie
    }
}

extension PackedCookie: CookieFields {
    var isHostOnly: Bool { header.isHostOnly }
    var isSecure: Bool { header.isSecure }
    var isHTTPOnly: Bool { header.isHTTPOnly }
    var sameSite: SameSite { header.sameSite }
    var expiry: Timestamp? { header.expiry }
    var creation: Timestamp { header.creation }

    func isOutside(_ key: @autoclosure () -> PartitionKey) -> Bool {
        header.isPartitioned && !partitionKey.elementsEqual(key().serialized.utf8)
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func isEqual(to octets: Octets) -> Bool {
        count == octets.count && octets.withOctets { hasSameBytes(as: $0) }
    }
}

/// Where a cookie lies within ``SiteCookies``, and what a search and the order of a header go by.
struct CookieEntry: BitwiseCopyable {
    private let creationMicroseconds: Int64
    private let sequence: Int64
    private let pathLength: UInt32
    /// Equal for equal IDs.
    private let idHash: UInt32
    /// Another one in every process, so that no server can choose cookies whose hashes are equal.
    private static let idHasher: OctetsHasher = {
        var generator = SystemRandomNumberGenerator()
        return OctetsHasher(using: &generator)
    }()
    /// Where the record begins.
    var offset: UInt32 = 0
    /// How long the record is.
    let byteCount: UInt32

    init(_ cookie: borrowing Cookie, _ record: CookieRecordHeader) {
        creationMicroseconds = record.creation.microseconds
        sequence = record.sequence
        pathLength = UInt32(record.pathCount)
        var hasher = CookieEntry.idHasher
        hasher.combine(cookie.id.name)
        hasher.combine(cookie.id.path)
        hasher.combine(cookie.id.domain.octets)
        idHash = UInt32(truncatingIfNeeded: hasher.value >> 32)
        byteCount = UInt32(record.byteCount)
    }

    /// Equal for equal IDs, and for as good as no others.
    var idKey: UInt64 { UInt64(idHash) << 32 | UInt64(pathLength) }

    /// Whether the cookies may have the same ID.
    @inline(__always)
    func mayHaveSameID(as other: CookieEntry) -> Bool {
        idHash == other.idHash && pathLength == other.pathLength
    }

    /// The order of a header (section 5.8.3 of the draft, step 4).
    @inline(__always)
    func precedes(_ other: CookieEntry) -> Bool { rank < other.rank }

    @inline(__always)
    private var rank: HeaderRank {
        HeaderRank(
            pathCount: Int(pathLength), creation: Timestamp(microseconds: creationMicroseconds), sequence: sequence)
    }
}

/// What stands in front of a packed cookie's octets: everything of a fixed size.
struct CookieRecordHeader: BitwiseCopyable {
    private static let hostOnlyFlag: UInt32 = 1
    private static let secureFlag: UInt32 = 2
    private static let httpOnlyFlag: UInt32 = 4
    private static let persistentFlag: UInt32 = 8
    private static let sameSiteShift: UInt32 = 4
    private static let kindShift: UInt32 = 6
    static let timeLength = UInt32(MemoryLayout<Int64>.size)

    private let lastAccessMicroseconds: Int64
    private let expiryMicroseconds: Int64
    private let creationMicroseconds: Int64
    let sequence: Int64
    private let flags: UInt32
    private let domainLength: UInt32
    private let pathLength: UInt32
    private let partitionLength: UInt32
    private let nameLength: UInt32
    private let valueLength: UInt32
    /// How long the path of the request is that told of the cookie; 0 for one that was set.
    private let requestPathLength: UInt32

    init(_ cookie: borrowing Cookie) {
        lastAccessMicroseconds = cookie.lastAccess.microseconds
        expiryMicroseconds = cookie.expiry?.microseconds ?? 0
        creationMicroseconds = cookie.creation.microseconds
        sequence = cookie.sequence
        flags =
            (cookie.isHostOnly ? Self.hostOnlyFlag : 0) | (cookie.isSecure ? Self.secureFlag : 0)
            | (cookie.isHTTPOnly ? Self.httpOnlyFlag : 0) | (cookie.isPersistent ? Self.persistentFlag : 0)
            | UInt32(cookie.sameSite.rawValue) << Self.sameSiteShift
            | UInt32(cookie.domain.kind.rawValue) << Self.kindShift
        domainLength = UInt32(cookie.domain.octets.count)
        pathLength = UInt32(cookie.path.count)
        partitionLength = UInt32(cookie.id.partitionKey?.serialized.utf8.count ?? 0)
        nameLength = UInt32(cookie.name.count)
        valueLength = UInt32(cookie.value.count)
        requestPathLength = UInt32(cookie.request?.path.count ?? 0)
    }

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self = bytes.loadUnaligned(fromByteOffset: offset, as: CookieRecordHeader.self)
    }

    static func setLastAccess(_ now: Timestamp, in bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        // The first field.
        bytes.storeBytes(of: now.microseconds, toByteOffset: offset, as: Int64.self)
    }

    var lastAccess: Timestamp { Timestamp(microseconds: lastAccessMicroseconds) }
    var expiry: Timestamp? { isPersistent ? Timestamp(microseconds: expiryMicroseconds) : nil }
    var creation: Timestamp { Timestamp(microseconds: creationMicroseconds) }
    var isHostOnly: Bool { flags & Self.hostOnlyFlag != 0 }
    var isSecure: Bool { flags & Self.secureFlag != 0 }
    var isHTTPOnly: Bool { flags & Self.httpOnlyFlag != 0 }
    var isPersistent: Bool { flags & Self.persistentFlag != 0 }
    var isPartitioned: Bool { partitionLength != 0 }
    /// Whether a request told of the cookie and no response set it.
    var isOfRequest: Bool { requestPathLength != 0 }
    var sameSite: SameSite { SameSite(rawValue: UInt8(flags >> Self.sameSiteShift & 3)) ?? .strict }
    var kind: WebHost.Kind { WebHost.Kind(rawValue: UInt8(flags >> Self.kindShift & 3)) ?? .domain }
    var pathCount: Int { Int(pathLength) }

    // The octets follow in this order; name and value next to each other, with the equals sign that a header has
    // between them.
    var domainPlace: Range<Int> { place(after: MemoryLayout<CookieRecordHeader>.size, domainLength) }
    var pathPlace: Range<Int> { place(after: domainPlace.upperBound, pathLength) }
    var partitionPlace: Range<Int> { place(after: pathPlace.upperBound, partitionLength) }
    /// The time and the path of the request that told of the cookie.
    var requestPlace: Range<Int> {
        place(after: partitionPlace.upperBound, isOfRequest ? requestPathLength + CookieRecordHeader.timeLength : 0)
    }
    var namePlace: Range<Int> { place(after: requestPlace.upperBound, nameLength) }
    var valuePlace: Range<Int> { place(after: namePlace.upperBound + 1, valueLength) }
    /// The octets of the cookie in a Cookie field.
    var pairPlace: Range<Int> { (nameLength == 0 ? valuePlace.lowerBound : namePlace.lowerBound)..<byteCount }
    /// The whole record.
    var byteCount: Int { valuePlace.upperBound }

    @inline(__always)
    private func place(after start: Int, _ length: UInt32) -> Range<Int> {
        start..<(start + Int(length))
    }

    /// Writes this header and the octets of `cookie`, which it was made from.
    func write(_ cookie: borrowing Cookie, to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        let record = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<(offset + byteCount)])
        record.storeBytes(of: self, as: CookieRecordHeader.self)
        record.write(cookie.id.domain.octets, at: domainPlace)
        record.write(cookie.id.path, at: pathPlace)
        if let key = cookie.id.partitionKey { record.write(Octets(key.serialized), at: partitionPlace) }
        if let request = cookie.request, isOfRequest {
            let start = requestPlace.lowerBound
            record.storeBytes(of: request.time.microseconds, toByteOffset: start, as: Int64.self)
            record.write(request.path, at: (start + Int(CookieRecordHeader.timeLength))..<requestPlace.upperBound)
        }
        record.write(cookie.id.name, at: namePlace)
        record[namePlace.upperBound] = ASCII.equals
        record.write(cookie.value, at: valuePlace)
    }
}

extension UnsafeMutableRawBufferPointer {
    @inline(__always)
    fileprivate func write(_ octets: borrowing Octets, at place: Range<Int>) {
        octets.withOctets { UnsafeMutableRawBufferPointer(rebasing: self[place]).copyMemory(from: $0) }
    }
}
