import WebPrimitives

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
