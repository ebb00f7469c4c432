import WebPrimitives

/// The cookie-attribute-list of a line, as values and as places in it.
struct SetCookieAttributes: Sendable {
    enum Path {
        case absent
        case `default`
        case place(OctetRange)
    }

    var expires: Timestamp?
    var maxAge: Int64?
    /// Where the last Domain stands, without its leading dot.
    var domain: OctetRange?
    var path = Path.absent
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: SameSite?
    var isPartitioned = false

    /// Parses the unparsed-attributes (section 5.6, second algorithm), which stand at `range` in the line.
    mutating func parse(_ bytes: Span<UInt8>, _ range: Range<Int>, _ profile: CookieProfile) {
        var position = range.lowerBound
        while position < range.upperBound {
            // Steps 2 to 4: what stands here is a semicolon.
            let start = position + 1
            var end = bytes.position(of: ASCII.semicolon, or: ASCII.equals, in: start..<range.upperBound)
            var equals = -1
            if end < range.upperBound, bytes[end] == ASCII.equals {
                equals = end
                end = bytes.position(of: ASCII.semicolon, in: (equals + 1)..<range.upperBound)
            }
            position = end
            // Steps 5 and 6.
            let name = bytes.trimmingBlanks(start..<(equals < 0 ? end : equals))
            let value = equals < 0 ? end..<end : bytes.trimmingBlanks((equals + 1)..<end)
            guard value.count <= SetCookie.attributeValueLimit else { continue }
            process(bytes.extracting(name), bytes.extracting(value), at: value, profile)
        }
    }

    /// Sections 5.6.1 to 5.6.7, and `Partitioned`; an unrecognized name is ignored.
    @inline(__always)
    private mutating func process(
        _ name: Span<UInt8>, _ value: Span<UInt8>, at place: Range<Int>, _ profile: CookieProfile
    ) {
        switch name.count {
        case 4 where name.equalsIgnoringCase("path"):
            processPath(value, place, profile)
        case 6 where name.equalsIgnoringCase("secure"):
            isSecure = true
        case 6 where name.equalsIgnoringCase("domain"):
            // The Domain Attribute (section 5.6.3).
            let isLoneDot = value.count == 1 && profile.contains(.refusesLoneDotDomain)
            let hasLeadingDot = !value.isEmpty && value[0] == ASCII.dot && !isLoneDot
            domain = OctetRange((place.lowerBound + (hasLeadingDot ? 1 : 0))..<place.upperBound)
        case 7 where name.equalsIgnoringCase("expires"):
            expires = CookieDate.parse(value) ?? expires
        case 7 where name.equalsIgnoringCase("max-age"):
            maxAge = SetCookieAttributes.deltaSeconds(value) ?? maxAge
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

    /// The Path Attribute (section 5.6.4).
    private mutating func processPath(_ value: Span<UInt8>, _ place: Range<Int>, _ profile: CookieProfile) {
        if !value.isEmpty, value[0] == ASCII.slash {
            path = .place(OctetRange(place))
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
