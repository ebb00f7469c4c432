import WebPrimitives

/// Retrieval (section 5.8.3 of the draft) from the cookies of one registrable domain.
extension SiteCookies {
    /// The cookies that go, and those that stay with every reason; notes the access.
    mutating func retrieve(_ rules: RetrievalRules) -> Retrieval {
        var accesses = AccessNotes()
        return retrieve(rules, &accesses)
    }

    /// The cookie-string alone; notes the access.
    mutating func cookieString(_ rules: RetrievalRules) -> Octets {
        var accesses = AccessNotes()
        return cookieString(rules, &accesses)
    }

    /// The same for a store on disk, which writes few accesses down.
    package mutating func retrieve(_ rules: RetrievalRules, _ accesses: inout AccessNotes) -> Retrieval {
        var retrieval = Retrieval()
        // A site of very many cookies has them on many hosts and paths.
        retrieval.included.reserveCapacity(min(count, 64))
        var room = RequestRoom(rules.limits)
        // Step 4: The cookies come in the order of a header.
        touch(at: rules.now) { packed in
            // Step 3: Take a cookie that meets all requirements.
            let reasons = rules.exclusionReasons(for: packed, in: &room) { packed.header.pairPlace.count }
            guard reasons.isEmpty else {
                retrieval.excluded.append(Retrieval.Exclusion(cookie: packed.cookie, reasons: reasons))
                return false
            }
            retrieval.included.append(packed.cookie)
            // Step 5: Set the last-access-time to now.
            return accesses.note(lastAccess: packed.header.lastAccess, packed.cookie.id)
        }
        return retrieval
    }

    /// The same for a store on disk, which writes few accesses down.
    @inline(__always)
    package mutating func cookieString(_ rules: RetrievalRules, _ accesses: inout AccessNotes) -> Octets {
        var output: [UInt8] = []
        output.reserveCapacity(1024)
        var room = RequestRoom(rules.limits)
        // Step 4: The cookies come in the order of a header.
        touch(at: rules.now) { packed in
            // Step 3: Take a cookie that meets all requirements.
            let reasons = rules.exclusionReasons(for: packed, in: &room) { packed.header.pairPlace.count }
            guard reasons.isEmpty else { return false }
            // Step 6: Write the pair, behind a separator unless it is the first.
            output.appendPairSeparator()
            output.append(contentsOf: packed.pair)
            // Step 5: Set the last-access-time to now.
            return accesses.note(lastAccess: packed.header.lastAccess, packed.cookie.id)
        }
        return Octets(output)
    }
}

/// Which accesses of a retrieval are to be written down: all, or those of cookies that were last used before some time.
package struct AccessNotes {
    private let limit: Timestamp?
    /// The cookies concerned, for a store on disk.
    package private(set) var cookies: [Cookie.ID] = []

    /// Notes for a store in memory, which writes every access down where the cookie lies.
    init() {
        limit = nil
    }

    /// Notes for cookies that were last used before `limit`.
    package init(before limit: Timestamp) {
        self.limit = limit
    }

    /// Notes the access to a cookie.
    ///
    /// - Returns: whether it is to be written down.
    @inline(__always)
    package mutating func note(lastAccess: Timestamp, _ id: @autoclosure () -> Cookie.ID) -> Bool {
        guard let limit else { return true }
        guard lastAccess < limit else { return false }
        cookies.append(id())
        return true
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

    /// Why a cookie that meets all requirements stays; `nil` if it goes and has taken its room.
    ///
    /// - Parameter length: How many octets its pair has; `nil` if its value cannot be read.
    @inline(__always)
    mutating func refusal(ofPair length: Int?) -> ExclusionReason? {
        guard let length else { return .unreadable }
        return takes(length) ? nil : .requestLimit
    }

    /// Takes the room for a cookie whose pair has that many octets, if there is any left.
    @inline(__always)
    private mutating func takes(_ octetCount: Int) -> Bool {
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
