/// Retrieval (section 5.8.3) from the cookies of one registrable domain.
extension SiteCookies {
    /// The cookies that go, and those that stay with every reason; notes the access.
    mutating func retrieve(_ rules: RetrievalRules) -> Retrieval {
        var retrieval = Retrieval()
        var room = RequestRoom(rules.limits)
        touch(at: rules.now) { packed in
            var reasons = rules.exclusionReasons(for: packed)
            if reasons.isEmpty, !room.takes(packed.header.pairPlace.count) { reasons.insert(.requestLimit) }
            guard reasons.isEmpty else {
                retrieval.excluded.append(Retrieval.Exclusion(cookie: packed.cookie, reasons: reasons))
                return false
            }
            retrieval.included.append(packed.cookie)
            return true
        }
        return retrieval
    }

    /// The cookie-string alone; notes the access.
    mutating func cookieString(_ rules: RetrievalRules) -> Octets {
        var output: [UInt8] = []
        output.reserveCapacity(1024)
        var room = RequestRoom(rules.limits)
        touch(at: rules.now) { packed in
            guard rules.exclusionReasons(for: packed).isEmpty, room.takes(packed.header.pairPlace.count) else {
                return false
            }
            if !output.isEmpty {
                output.append(ASCII.semicolon)
                output.append(ASCII.space)
            }
            output.append(contentsOf: packed.pair)
            return true
        }
        return Octets(output)
    }
}

/// What is left of the limits of one Cookie field. From the first cookie on that has no room, none has: a request
/// gets the first ones of the order, not those that happen to be short.
struct RequestRoom {
    private var cookies: Int
    private var octets: Int
    private var isFirst = true

    init(_ limits: CookieLimits) {
        cookies = limits.requestCookies ?? .max
        octets = limits.requestOctets ?? .max
    }

    /// Takes the room for a cookie whose pair has that many octets, where there is any.
    @inline(__always)
    mutating func takes(_ octetCount: Int) -> Bool {
        let needed = isFirst ? octetCount : octetCount + 2
        guard cookies > 0, octets >= needed else {
            cookies = 0
            return false
        }
        isFirst = false
        cookies -= 1
        octets -= needed
        return true
    }
}
