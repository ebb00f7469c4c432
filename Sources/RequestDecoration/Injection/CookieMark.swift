internal import CookieModel

/// Tells one cookie with one value from another within an origin, or some items of web storage from others: what a tab
/// remembers of it. Short, since it outlives
/// the cookie there, and a page may read it. A checksum over parts, told apart from their like cut elsewhere: no secret,
/// and no proof of anything.
struct CookieMark {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// What the marks of cookies of one domain and path have alike.
    init(_ id: Cookie.ID) {
        add(id.domain.octets)
        add(flag: id.isHostOnly)
        add(id.path)
    }

    /// The mark of the items of web storage of an origin.
    init(_ items: some Sequence<WebStorageItem>) {
        for item in items {
            add(item.key)
            add(item.value)
        }
    }

    /// The mark of a cookie of that domain and path.
    ///
    /// - Parameter top: the page that must be in the address bar, `nil` for any.
    func of(_ pair: InjectionScript.SeedPair, top: Octets?) -> CookieMark {
        var mark = self
        mark.add(UnsafeRawBufferPointer(pair.name))
        mark.add(UnsafeRawBufferPointer(pair.value))
        mark.add(flag: top == nil)
        if let top { mark.add(top) }
        return mark
    }

    /// Writes it as eight hexadecimal digits.
    func write(to script: inout JavaScript) {
        var digits: UInt64 = 0
        for index in 0..<8 {
            let digit = state >> UInt64(60 - index * 4) & 15
            digits |= (digit < 10 ? 0x30 + digit : 0x57 + digit) << UInt64(index * 8)
        }
        withUnsafeBytes(of: digits.littleEndian) { script.write($0) }
    }

    private mutating func add(_ part: Octets) {
        part.withSpan { span in span.withUnsafeBytes { add($0) } }
    }

    private mutating func add(_ part: UnsafeRawBufferPointer) {
        mix(UInt64(part.count))
        var offset = 0
        while offset + 8 <= part.count {
            mix(UInt64(littleEndian: part.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < part.count {
            rest = rest << 8 | UInt64(part[offset])
            offset += 1
        }
        mix(rest)
    }

    private mutating func add(flag: Bool) {
        mix(flag ? 1 : 2)
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }
}
