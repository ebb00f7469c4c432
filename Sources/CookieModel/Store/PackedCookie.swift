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
