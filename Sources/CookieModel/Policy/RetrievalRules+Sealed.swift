import WebPrimitives

extension RetrievalRules {
    /// Retrieves cookies that a store keeps sealed (section 5.8.3 of the draft).
    ///
    /// - Parameters:
    ///   - cookies: the cookies of the request host's registrable domain, in any order, with sealed values.
    ///   - open: gives the value of a cookie that would go; `nil` where it cannot be read, and the cookie stays as
    ///     ``ExclusionReason/unreadable``. Cookies that stay are left without a value.
    package func retrieval(from cookies: [Cookie], opening open: (Cookie) -> Octets?) -> Retrieval {
        var retrieval = Retrieval()
        var room = RequestRoom(limits)
        // Step 4: Sort the cookies.
        for var cookie in cookies.sorted(by: { $0.precedes($1) }) {
            var value: Octets?
            // Step 3: Take a cookie that meets all requirements.
            let reasons = exclusionReasons(for: cookie, in: &room) {
                value = open(cookie)
                return value.map { Retrieval.pairLength(name: cookie.name.count, value: $0.count) }
            }
            cookie.value = reasons.isEmpty ? value ?? [] : []
            if reasons.isEmpty {
                retrieval.included.append(cookie)
            } else {
                retrieval.excluded.append(Retrieval.Exclusion(cookie: cookie, reasons: reasons))
            }
        }
        return retrieval
    }

    /// The cookie-string alone: what ``retrieval(from:opening:)`` gives, for those who do not ask why.
    ///
    /// - Parameters:
    ///   - open: gives the value of the cookie at a place.
    ///   - noteAccess: is told the place of each cookie that is sent.
    package func cookieString(
        from cookies: [CookieView], opening open: (Int) -> Octets?, noteAccess: (Int) -> Void
    ) -> Octets {
        var room = RequestRoom(limits)
        var output: [UInt8] = []
        output.reserveCapacity(1024)
        // Steps 3 and 4: Take the cookies that meet all requirements, and sort them.
        for (_, place) in inOrder(cookies) {
            let name = cookies[place].name
            let value = open(place)
            let length = value.map { Retrieval.pairLength(name: name.count, value: $0.count) }
            guard let value, room.refusal(ofPair: length) == nil else { continue }
            // Step 6: Write the pair.
            value.withOctets { output.appendPair(name, $0) }
            // Step 5: Set the last-access-time to now.
            noteAccess(place)
        }
        return Octets(output)
    }

    /// The places of the cookies that no rule keeps back, in the order of a header.
    private func inOrder(_ cookies: [CookieView]) -> [(rank: HeaderRank, place: Int)] {
        var places: [(rank: HeaderRank, place: Int)] = []
        places.reserveCapacity(cookies.count)
        // Step 3: Take the cookies that meet all requirements.
        for place in cookies.indices where exclusionReasons(for: cookies[place]).isEmpty {
            places.append((cookies[place].rank, place))
        }
        // Step 4: Sort them.
        places.sort { $0.rank < $1.rank }
        return places
    }
}

extension Retrieval {
    /// How many octets a pair has in a Cookie field (section 5.8.3 of the draft, step 6): those of the value alone
    /// without a name.
    @inline(__always)
    static func pairLength(name: Int, value: Int) -> Int { name == 0 ? value : name + 1 + value }
}

extension [UInt8] {
    /// Appends one more pair of a cookie-string (section 5.8.3 of the draft, step 6).
    mutating func appendPair(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        appendPairSeparator()
        // Step 6.1: Write a name that is not empty, and an equals sign.
        if !name.isEmpty {
            append(contentsOf: name)
            append(ASCII.equals)
        }
        // Step 6.2: Write the value.
        append(contentsOf: value)
    }

    /// Appends what stands between two pairs, where there is one already.
    @inline(__always)
    mutating func appendPairSeparator() {
        // Step 6.3: Write a semicolon and a space between two cookies.
        guard !isEmpty else { return }
        append(ASCII.semicolon)
        append(ASCII.space)
    }
}

/// A cookie of a store where it lies: what reads it counts and copies none of its parts.
package struct CookieView: CookieFields {
    package let domainOctets: UnsafeRawBufferPointer
    package let pathOctets: UnsafeRawBufferPointer
    package let name: UnsafeRawBufferPointer
    /// The partition as ``PartitionKey/serialized`` writes it; empty where there is none.
    package let partitionKey: UnsafeRawBufferPointer
    package let isHostOnly: Bool
    package let isSecure: Bool
    package let isHTTPOnly: Bool
    package let sameSite: SameSite
    package let expiry: Timestamp?
    package let creation: Timestamp
    private let sequence: Int64

    /// A cookie from its fields; the memory must outlive this.
    package init(
        domain: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer,
        partitionKey: UnsafeRawBufferPointer, isHostOnly: Bool, isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite,
        expiry: Timestamp?, creation: Timestamp, sequence: Int64
    ) {
        domainOctets = domain
        pathOctets = path
        self.name = name
        self.partitionKey = partitionKey
        self.isHostOnly = isHostOnly
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.expiry = expiry
        self.creation = creation
        self.sequence = sequence
    }

    /// What the order of a header goes by.
    var rank: HeaderRank {
        HeaderRank(pathCount: pathOctets.count, creation: creation, sequence: sequence)
    }

    func isOutside(_ key: @autoclosure () -> PartitionKey) -> Bool {
        !partitionKey.isEmpty && !partitionKey.elementsEqual(key().serialized.utf8)
    }
}
