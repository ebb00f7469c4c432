import WebPrimitives

/// One cookie within ``SiteCookies``, or among other packed cookies, in place.
package struct PackedCookie {
    let header: CookieRecordHeader
    private let bytes: UnsafeRawBufferPointer
    private let offset: Int

    /// The cookie at an offset; the memory must outlive this.
    @inline(__always)
    package init(bytes: UnsafeRawBufferPointer, offset: Int) {
        header = CookieRecordHeader(bytes, at: offset)
        self.bytes = bytes
        self.offset = offset
    }

    /// Appends a cookie to `bytes`; ``init(bytes:offset:)`` reads it there.
    package static func append(_ cookie: borrowing Cookie, to bytes: inout [UInt8]) {
        let record = CookieRecordHeader(cookie)
        let offset = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: record.byteCount))
        bytes.withUnsafeMutableBytes { record.write(cookie, to: $0, at: offset) }
    }

    /// How many bytes the packed cookie has.
    package var byteCount: Int { header.byteCount }

    @inline(__always)
    private func octets(_ place: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(offset + place.lowerBound)..<(offset + place.upperBound)])
    }

    package var domainOctets: UnsafeRawBufferPointer { octets(header.domainPlace) }
    package var pathOctets: UnsafeRawBufferPointer { octets(header.pathPlace) }
    package var partitionOctets: UnsafeRawBufferPointer { octets(header.partitionPlace) }
    package var nameOctets: UnsafeRawBufferPointer { octets(header.namePlace) }
    /// The stored value: open, sealed, or empty if it cannot be read.
    package var valueOctets: UnsafeRawBufferPointer { octets(header.valuePlace) }
    /// The octets of a cookie with an open value in a Cookie field.
    var pair: UnsafeRawBufferPointer { octets(header.pairPlace) }
    /// All but the value.
    var octetsBeforeValue: UnsafeRawBufferPointer {
        octets(MemoryLayout<CookieRecordHeader>.size..<header.valuePlace.lowerBound)
    }

    func hasName(_ name: Octets) -> Bool {
        nameOctets.isEqual(to: name)
    }

    /// The form of the stored value.
    package var value: PackedValue { header.value }
    /// When the cookie was last sent or set.
    package var lastAccess: Timestamp { header.lastAccess }
    /// The place in the order of creation.
    package var sequence: Int64 { header.sequence }

    package func hasID(_ id: Cookie.ID) -> Bool {
        hasName(id.name) && header.isHostOnly == id.isHostOnly && pathOctets.isEqual(to: id.path)
            && domainOctets.isEqual(to: id.domain.octets)
            && header.isPartitioned == (id.partitionKey != nil)
            && (!header.isPartitioned || partitionOctets.elementsEqual((id.partitionKey?.serialized ?? "").utf8))
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
            partitionKey: PartitionKey(serialized: String(decoding: partitionOctets, as: UTF8.self)))
        var cookie = Cookie(
            id: id, value: part(header.valuePlace), attributes: header.attributes,
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
    package var isHostOnly: Bool { header.isHostOnly }
    package var attributes: CookieAttributes { header.attributes }
    package var sameSite: SameSite { header.sameSite }
    package var expiry: Timestamp? { header.expiry }
    package var creation: Timestamp { header.creation }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func isEqual(to octets: Octets) -> Bool {
        count == octets.count && octets.withOctets { hasSameBytes(as: $0) }
    }
}

/// The place of a cookie within ``SiteCookies``, with the keys of searches and of the order of a header field.
struct CookieEntry: BitwiseCopyable {
    private let creationMicroseconds: Int64
    private let sequence: Int64
    private let pathLength: UInt32
    /// Equal for equal IDs; 0 until ``setIDHash(of:)``.
    private var idHash: UInt32 = 0
    /// Another one in every process, so that no server can choose cookies whose hashes are equal.
    private static let idHasher: OctetsHasher = {
        var generator = SystemRandomNumberGenerator()
        return OctetsHasher(using: &generator)
    }()
    /// Where the record begins.
    var offset: UInt32 = 0
    /// How long the record is.
    var byteCount: UInt32

    /// An entry that a search can compare.
    init(_ cookie: borrowing Cookie, _ record: CookieRecordHeader) {
        self.init(record)
        setIDHash(name: cookie.id.name, path: cookie.id.path, domain: cookie.id.domain.octets)
    }

    /// An entry without the hash of its ID, which only a search needs.
    @inline(__always)
    init(_ record: CookieRecordHeader) {
        creationMicroseconds = record.creation.microseconds
        sequence = record.sequence
        pathLength = UInt32(record.pathCount)
        byteCount = UInt32(record.byteCount)
    }

    /// Computes the hash of the ID from the entry's cookie.
    mutating func setIDHash(of cookie: borrowing PackedCookie) {
        setIDHash(name: cookie.nameOctets, path: cookie.pathOctets, domain: cookie.domainOctets)
    }

    @inline(__always)
    private mutating func setIDHash<Bytes: ContiguousOctets>(name: Bytes, path: Bytes, domain: Bytes) {
        var hasher = CookieEntry.idHasher
        name.withOctets { hasher.combine($0) }
        path.withOctets { hasher.combine($0) }
        domain.withOctets { hasher.combine($0) }
        idHash = UInt32(truncatingIfNeeded: hasher.value >> 32)
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

/// The form of a packed cookie's value.
package enum PackedValue: UInt8 {
    /// In the clear.
    case open = 0
    /// Sealed by the store that keeps it.
    case sealed = 1
    /// Absent, because the store could not open it.
    case unreadable = 2
}

/// The part of a packed cookie before its octets: everything of a fixed size.
struct CookieRecordHeader: BitwiseCopyable {
    private static let hostOnlyFlag: UInt32 = 1
    private static let persistentFlag: UInt32 = 8
    private static let sameSiteShift: UInt32 = 4
    private static let kindShift: UInt32 = 6
    private static let valueShift: UInt32 = 8
    private static let attributesShift: UInt32 = 16
    static let timeLength = UInt32(MemoryLayout<Int64>.size)

    private let lastAccessMicroseconds: Int64
    private let expiryMicroseconds: Int64
    private let creationMicroseconds: Int64
    let sequence: Int64
    private var flags: UInt32
    private let domainLength: UInt32
    private let pathLength: UInt32
    private let partitionLength: UInt32
    private let nameLength: UInt32
    private var valueLength: UInt32
    /// How long the path of the request is that told of the cookie; 0 for one that was set.
    private let requestPathLength: UInt32

    init(_ cookie: borrowing Cookie, _ value: PackedValue = .open) {
        self.init(
            value, domain: cookie.domain.kind, domainCount: cookie.domain.octets.count, pathCount: cookie.path.count,
            nameCount: cookie.name.count, partitionCount: cookie.id.partitionKey?.serialized.utf8.count ?? 0,
            valueCount: cookie.value.count, requestPathCount: cookie.request?.path.count ?? 0,
            isHostOnly: cookie.isHostOnly, attributes: cookie.attributes,
            sameSite: cookie.sameSite, expiry: cookie.expiry, creation: cookie.creation, lastAccess: cookie.lastAccess,
            sequence: cookie.sequence)
    }

    /// The header of a cookie whose octets are given one by one.
    @inline(__always)
    init(
        _ value: PackedValue, domain: WebHost.Kind, domainCount: Int, pathCount: Int, nameCount: Int,
        partitionCount: Int, valueCount: Int, requestPathCount: Int = 0, isHostOnly: Bool,
        attributes: CookieAttributes, sameSite: SameSite, expiry: Timestamp?,
        creation: Timestamp, lastAccess: Timestamp, sequence: Int64
    ) {
        lastAccessMicroseconds = lastAccess.microseconds
        expiryMicroseconds = expiry?.microseconds ?? 0
        creationMicroseconds = creation.microseconds
        self.sequence = sequence
        flags =
            (isHostOnly ? Self.hostOnlyFlag : 0) | (expiry == nil ? 0 : Self.persistentFlag)
            | UInt32(attributes.rawValue) << Self.attributesShift
            | UInt32(sameSite.rawValue) << Self.sameSiteShift | UInt32(domain.rawValue) << Self.kindShift
            | UInt32(value.rawValue) << Self.valueShift
        domainLength = UInt32(domainCount)
        pathLength = UInt32(pathCount)
        partitionLength = UInt32(partitionCount)
        nameLength = UInt32(nameCount)
        valueLength = UInt32(valueCount)
        requestPathLength = UInt32(requestPathCount)
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
    var attributes: CookieAttributes {
        CookieAttributes(rawValue: UInt8(truncatingIfNeeded: flags >> Self.attributesShift))
    }
    var isPersistent: Bool { flags & Self.persistentFlag != 0 }
    var isPartitioned: Bool { partitionLength != 0 }
    /// Whether a request told of the cookie and no response set it.
    var isOfRequest: Bool { requestPathLength != 0 }
    var sameSite: SameSite { SameSite(rawValue: UInt8(flags >> Self.sameSiteShift & 3)) ?? .strict }
    var kind: WebHost.Kind { WebHost.Kind(rawValue: UInt8(flags >> Self.kindShift & 3)) ?? .domain }
    /// The form of the value in the record.
    var value: PackedValue { PackedValue(rawValue: UInt8(flags >> Self.valueShift & 3)) ?? .unreadable }

    /// The header of the same cookie with another value.
    func with(_ value: PackedValue, count: Int) -> CookieRecordHeader {
        var changed = self
        changed.flags = flags & ~(3 << Self.valueShift) | UInt32(value.rawValue) << Self.valueShift
        changed.valueLength = UInt32(truncatingIfNeeded: count)
        return changed
    }

    var pathCount: Int { Int(pathLength) }

    // The octets follow in this order; name and value next to each other, with the equals sign that a header has
    // between them.
    var domainPlace: Range<Int> { place(after: MemoryLayout<CookieRecordHeader>.size, domainLength) }
    var pathPlace: Range<Int> { place(after: domainPlace.upperBound, pathLength) }
    var partitionPlace: Range<Int> { place(after: pathPlace.upperBound, partitionLength) }
    /// The time and the path of the request that told of the cookie.
    @inline(__always)
    var requestPlace: Range<Int> {
        place(after: partitionPlace.upperBound, isOfRequest ? requestPathLength + CookieRecordHeader.timeLength : 0)
    }
    var namePlace: Range<Int> { place(after: requestPlace.upperBound, nameLength) }
    var valuePlace: Range<Int> { place(after: namePlace.upperBound + 1, valueLength) }
    /// The octets of the cookie in a Cookie field.
    @inline(__always)
    var pairPlace: Range<Int> { (nameLength == 0 ? valuePlace.lowerBound : namePlace.lowerBound)..<byteCount }
    /// How many octets ``pairPlace`` has.
    var pairLength: Int { pairLength(ofValue: Int(valueLength)) }
    /// The number of octets of the pair for a value of the given length (section 5.8.3 of the draft, step 6).
    func pairLength(ofValue count: Int) -> Int { nameLength == 0 ? count : Int(nameLength) + 1 + count }
    /// The whole record.
    var byteCount: Int { valuePlace.upperBound }

    @inline(__always)
    private func place(after start: Int, _ length: UInt32) -> Range<Int> {
        start..<(start + Int(length))
    }

    /// Writes this header and the octets of `cookie`, which it was made from.
    func write(_ cookie: borrowing Cookie, to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        let record = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<(offset + byteCount)])
        write(
            domain: cookie.id.domain.octets, path: cookie.id.path, name: cookie.id.name, value: cookie.value, to: record
        )
        if let key = cookie.id.partitionKey { record.write(Octets(key.serialized), at: partitionPlace) }
        if let request = cookie.request, isOfRequest {
            let start = requestPlace.lowerBound
            record.storeBytes(of: request.time.microseconds, toByteOffset: start, as: Int64.self)
            record.write(request.path, at: (start + Int(CookieRecordHeader.timeLength))..<requestPlace.upperBound)
        }
    }

    /// Writes this header and the octets that every cookie has.
    @inline(__always)
    func write<Bytes: ContiguousOctets>(
        domain: Bytes, path: Bytes, name: Bytes, value: Bytes, to record: UnsafeMutableRawBufferPointer
    ) {
        record.storeBytes(of: self, as: CookieRecordHeader.self)
        record.write(domain, at: domainPlace)
        record.write(path, at: pathPlace)
        record.write(name, at: namePlace)
        record[namePlace.upperBound] = ASCII.equals
        record.write(value, at: valuePlace)
    }
}

extension UnsafeMutableRawBufferPointer {
    @inline(__always)
    func write(_ octets: some ContiguousOctets, at place: Range<Int>) {
        octets.withOctets { UnsafeMutableRawBufferPointer(rebasing: self[place]).copyMemory(from: $0) }
    }
}
