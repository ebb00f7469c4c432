import WebPrimitives

/// Retrieval (section 5.8.3 of the draft) from the cookies of one registrable domain.
extension SiteCookies {
    /// Returns the cookies to send, and the others with every reason; notes the access.
    ///
    /// - Parameter open: opens a sealed value; `nil` if it cannot be read. Called only for cookies that meet all
    ///   requirements.
    package mutating func retrieve(
        _ rules: RetrievalRules, _ accesses: inout AccessNotes,
        opening open: (borrowing PackedCookie) -> Octets? = { _ in nil }
    ) -> Retrieval {
        var retrieval = Retrieval()
        // A site of very many cookies has them on many hosts and paths.
        retrieval.included.reserveCapacity(min(count, 64))
        retrieve(rules, &accesses, open) { packed, opened, reasons in
            var cookie = packed.cookie
            if packed.value == .sealed { cookie.value = reasons.isEmpty ? opened ?? [] : [] }
            if reasons.isEmpty {
                retrieval.included.append(cookie)
            } else {
                retrieval.excluded.append(Retrieval.Exclusion(cookie: cookie, reasons: reasons))
            }
        }
        return retrieval
    }

    /// Returns the cookie-string alone: that of ``retrieve(_:_:opening:)``, without the reasons.
    @inline(__always)
    package mutating func cookieString(
        _ rules: RetrievalRules, _ accesses: inout AccessNotes,
        opening open: (borrowing PackedCookie) -> Octets? = { _ in nil }
    ) -> Octets {
        var output: [UInt8] = []
        output.reserveCapacity(1024)
        retrieve(rules, &accesses, open) { packed, opened, reasons in
            guard reasons.isEmpty else { return }
            // Step 6: Write the pair, after a separator unless it is the first.
            if let opened {
                opened.withOctets { output.appendPair(packed.nameOctets, $0) }
            } else {
                output.appendPairSeparator()
                output.append(contentsOf: packed.pair)
            }
        }
        return Octets(output)
    }

    /// The retrieval algorithm, steps 3 to 5, for every form of its result.
    ///
    /// - Parameter body: takes each cookie in the order of a header, its value if it was sealed and has been opened, and
    ///   the reasons why it is not sent.
    @inline(__always)
    private mutating func retrieve(
        _ rules: RetrievalRules, _ accesses: inout AccessNotes, _ open: (borrowing PackedCookie) -> Octets?,
        _ body: (borrowing PackedCookie, Octets?, ReasonSet<ExclusionReason>) -> Void
    ) {
        var room = RequestRoom(rules.limits)
        // Step 4: The cookies come in the order of a header.
        touch(at: rules.now) { packed in
            // Step 3: Take a cookie that meets all requirements.
            var reasons = rules.exclusionReasons(for: packed)
            var opened: Octets?
            if reasons.isEmpty {
                var length: Int? = packed.header.pairLength
                if packed.value != .open {
                    opened = packed.value == .sealed ? open(packed) : nil
                    length = opened.map { packed.header.pairLength(ofValue: $0.count) }
                }
                if let reason = room.refusal(ofPair: length) { reasons.insert(reason) }
            }
            body(packed, opened, reasons)
            // Step 5: Set the last-access-time to now.
            return reasons.isEmpty && accesses.note(lastAccess: packed.header.lastAccess, packed.cookie.id)
        }
    }
}

extension [UInt8] {
    /// Appends one more pair of a cookie-string (section 5.8.3 of the draft, step 6).
    mutating func appendPair<Bytes: ContiguousOctets>(_ name: Bytes, _ value: Bytes) {
        appendPairSeparator()
        // Step 6.1: Write a name that is not empty, and an equals sign.
        if !name.isEmpty {
            name.withOctets { append(contentsOf: $0) }
            append(ASCII.equals)
        }
        // Step 6.2: Write the value.
        value.withOctets { append(contentsOf: $0) }
    }

    /// Appends the separator of two pairs, unless this is the first pair.
    @inline(__always)
    mutating func appendPairSeparator() {
        // Step 6.3: Write a semicolon and a space between two cookies.
        guard !isEmpty else { return }
        append(ASCII.semicolon)
        append(ASCII.space)
    }
}

/// Which accesses of a retrieval are recorded: all, or those of cookies that were last used before some time.
package struct AccessNotes {
    private let limit: Timestamp?
    /// The cookies concerned, for a store on disk.
    package private(set) var cookies: [Cookie.ID] = []

    /// Access notes for a store in memory, which records every access in the cookie itself.
    init() {
        limit = nil
    }

    /// Notes for cookies that were last used before `limit`.
    package init(before limit: Timestamp) {
        self.limit = limit
    }

    /// Notes the access to a cookie.
    ///
    /// - Returns: whether it is recorded.
    @inline(__always)
    package mutating func note(lastAccess: Timestamp, _ id: @autoclosure () -> Cookie.ID) -> Bool {
        guard let limit else { return true }
        guard lastAccess < limit else { return false }
        cookies.append(id())
        return true
    }
}

/// The room left within the limits of one Cookie field. Once a cookie does not fit, no later one does: a request gets
/// the first cookies in order, not those that happen to be short.
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
