extension SetCookie {
    /// The most octets that name and value may have together (section 5.6, step 5).
    public static let nameAndValueLimit = 4096
    /// The most octets that an attribute's value may have (section 5.6, attributes, step 6).
    public static let attributeValueLimit = 1024

    /// What parsing a field value comes to.
    public enum ParseResult: Sendable, Hashable {
        /// The line is well formed enough to be decided on.
        case cookie(SetCookie)
        /// The algorithm ignores the line entirely.
        case ignored(ReasonSet<RejectionReason>)
    }

    /// Parses a set-cookie-string (section 5.6). Linear in the number of bytes; copies the line once.
    ///
    /// - Parameter profile: the divergences of the draft's successor that apply.
    public static func parse(_ fieldValue: Octets, profile: CookieProfile = .rfc6265bis) -> ParseResult {
        fieldValue.withSpan { parse($0, profile: profile) }
    }

    /// Parses a set-cookie-string (section 5.6) in place.
    public static func parse(_ bytes: Span<UInt8>, profile: CookieProfile = .rfc6265bis) -> ParseResult {
        var reasons = ReasonSet<RejectionReason>()
        // Steps 1 to 3, in one pass up to the first semicolon.
        var pairEnd = bytes.count
        var equals = -1
        var position = 0
        var hasControl = false
        while position < pairEnd {
            let byte = bytes[position]
            if byte == ASCII.semicolon {
                pairEnd = position
            } else if byte == ASCII.equals {
                if equals < 0 { equals = position }
            } else if ASCII.isControl(byte) {
                hasControl = true
            }
            position += 1
        }
        while position < bytes.count, !hasControl {
            hasControl = ASCII.isControl(bytes[position])
            position += 1
        }
        if hasControl { reasons.insert(.controlCharacter) }
        let name = bytes.trimmingWhiteSpace(0..<max(equals, 0))
        let value = bytes.trimmingWhiteSpace((equals + 1)..<pairEnd)
        if name.count + value.count > nameAndValueLimit { reasons.insert(.nameAndValueTooLong) }
        // Section 5.7, step 2, is the same for every request: nothing to decide.
        if name.isEmpty, value.isEmpty { reasons.insert(.emptyNameAndValue) }
        guard reasons.isEmpty else { return .ignored(reasons) }

        let storage = bytes.array(0..<bytes.count)
        var cookie = SetCookie(name: Octets(storage, in: name), value: Octets(storage, in: value))
        cookie.parseAttributes(bytes, pairEnd..<bytes.count, storage, profile)
        return .cookie(cookie)
    }

    /// Parses the unparsed-attributes (section 5.6, second algorithm).
    private mutating func parseAttributes(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ storage: [UInt8], _ profile: CookieProfile
    ) {
        var position = range.lowerBound
        while position < range.upperBound {
            // Step 2: what stands here is a semicolon.
            let start = position + 1
            var end = start
            var equals = -1
            while end < range.upperBound, bytes[end] != ASCII.semicolon {
                if equals < 0, bytes[end] == ASCII.equals { equals = end }
                end += 1
            }
            position = end
            let name = bytes.trimmingWhiteSpace(start..<(equals < 0 ? end : equals))
            let value = equals < 0 ? end..<end : bytes.trimmingWhiteSpace((equals + 1)..<end)
            guard value.count <= SetCookie.attributeValueLimit else { continue }
            process(bytes.extracting(name), bytes.extracting(value), Octets(storage, in: value), profile)
        }
    }

    /// Sections 5.6.1 to 5.6.7, and `Partitioned`; an unrecognized name is ignored.
    @inline(__always)
    private mutating func process(
        _ name: Span<UInt8>, _ value: Span<UInt8>, _ octets: Octets, _ profile: CookieProfile
    ) {
        switch name.count {
        case 4 where name.equalsIgnoringCase("path"):
            processPath(value, octets, profile)
        case 6 where name.equalsIgnoringCase("secure"):
            isSecure = true
        case 6 where name.equalsIgnoringCase("domain"):
            processDomain(value, octets)
        case 7 where name.equalsIgnoringCase("expires"):
            expires = CookieDate.parse(value) ?? expires
        case 7 where name.equalsIgnoringCase("max-age"):
            maxAge = SetCookie.deltaSeconds(value) ?? maxAge
        case 8 where name.equalsIgnoringCase("httponly"):
            isHTTPOnly = true
        case 8 where name.equalsIgnoringCase("samesite"):
            processSameSite(value, profile)
        case 11 where name.equalsIgnoringCase("partitioned"):
            isPartitioned = true
        default:
            break
        }
    }

    /// The Max-Age Attribute (section 5.6.2, steps 1 to 4).
    private static func deltaSeconds(_ value: Span<UInt8>) -> Int64? {
        guard !value.isEmpty else { return nil }
        let isNegative = value[0] == ASCII.hyphen
        guard value.count > (isNegative ? 1 : 0) else { return nil }
        var seconds: Int64 = 0
        for index in (isNegative ? 1 : 0)..<value.count {
            guard ASCII.isDigit(value[index]) else { return nil }
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(value[index] &- ASCII.zero))
            seconds = overflow || carry ? .max : sum
        }
        return isNegative ? -seconds : seconds
    }

    /// The Domain Attribute (section 5.6.3).
    private mutating func processDomain(_ value: Span<UInt8>, _ octets: Octets) {
        let start = !value.isEmpty && value[0] == ASCII.dot ? 1 : 0
        for index in start..<value.count where value[index] &- 0x41 < 26 {
            domain = Octets(octets[start..<octets.count].map(ASCII.lowercased))
            return
        }
        domain = octets[start..<octets.count]
    }

    /// The Path Attribute (section 5.6.4).
    private mutating func processPath(_ value: Span<UInt8>, _ octets: Octets, _ profile: CookieProfile) {
        if !value.isEmpty, value[0] == ASCII.slash {
            path = .path(octets)
        } else if !profile.contains(.ignoresRelativePath) {
            path = .default
        }
    }

    /// The SameSite Attribute (section 5.6.7).
    private mutating func processSameSite(_ value: Span<UInt8>, _ profile: CookieProfile) {
        if value.equalsIgnoringCase("none") {
            sameSite = SameSite.none
        } else if value.equalsIgnoringCase("strict") {
            sameSite = .strict
        } else if value.equalsIgnoringCase("lax") {
            sameSite = .lax
        } else if !profile.contains(.keepsEarlierSameSite) {
            sameSite = .default
        }
    }
}
