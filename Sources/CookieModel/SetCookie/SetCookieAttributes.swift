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
    /// The place of the last Domain, without its leading dot.
    var domain: OctetRange?
    var path = Path.absent
    var flags: CookieAttributes = []
    var sameSite: SameSite?
    var isPartitioned = false

    /// Parses the unparsed-attributes (section 5.6 of the draft, second algorithm) at `range` in the line.
    mutating func parse(_ bytes: Span<UInt8>, _ range: Range<Int>, _ profile: CookieProfile) {
        var position = range.lowerBound
        // Steps 1 and 8: Stop if nothing is left; otherwise continue with the next attribute.
        while position < range.upperBound {
            // Step 2: Discard the first character, a semicolon.
            let start = position + 1
            // Step 3: The attribute ends before the next semicolon, or with the line.
            // Step 4: The first equals sign in it divides name and value. Without one, the value is empty.
            var end = bytes.position(of: ASCII.semicolon, or: ASCII.equals, in: start..<range.upperBound)
            var equals = -1
            if end < range.upperBound, bytes[end] == ASCII.equals {
                equals = end
                end = bytes.position(of: ASCII.semicolon, in: (equals + 1)..<range.upperBound)
            }
            position = end
            // Step 5: Remove spaces and tabs around the attribute's name and value.
            let name = bytes.trimmingBlanks(start..<(equals < 0 ? end : equals))
            let value = equals < 0 ? end..<end : bytes.trimmingBlanks((equals + 1)..<end)
            // Step 6: Ignore an attribute whose value is longer than 1024 octets.
            guard value.count <= SetCookie.attributeValueLimit else { continue }
            // Step 7: Process the attribute by its name.
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
            // Section 5.6.5: Add Secure, whatever the value.
            flags.insert(.secure)
        case 6 where name.equalsIgnoringCase("domain"):
            // Section 5.6.3, step 1: The value is the domain.
            // Step 2: Remove one leading dot. (Departure: not from a lone dot, with the profile's flag.)
            // Step 3, lower case, is for `SetCookie.domain`.
            let isLoneDot = value.count == 1 && profile.contains(.refusesLoneDotDomain)
            let hasLeadingDot = !value.isEmpty && value[0] == ASCII.dot && !isLoneDot
            // Step 4: Add the domain; the last one counts.
            domain = OctetRange((place.lowerBound + (hasLeadingDot ? 1 : 0))..<place.upperBound)
        case 7 where name.equalsIgnoringCase("expires"):
            // Section 5.6.1, step 1: Parse the value as a cookie-date.
            // Step 2: Ignore the attribute if that fails.
            // Steps 3 and 4, the age limit, are for section 5.7, step 6, which knows the time.
            // Step 5 is not needed: every date that parses can be represented.
            // Step 6: Add the date; the last one counts.
            expires = CookieDate.parse(value) ?? expires
        case 7 where name.equalsIgnoringCase("max-age"):
            // Section 5.6.2, steps 1 to 4, are `deltaSeconds`.
            // Steps 5 to 7, the age limit and the date, are for section 5.7, step 6, which knows the time.
            // Step 8: Add the seconds; the last ones count.
            maxAge = SetCookieAttributes.deltaSeconds(value) ?? maxAge
        case 8 where name.equalsIgnoringCase("httponly"):
            // Section 5.6.6: Add HttpOnly, whatever the value.
            flags.insert(.httpOnly)
        case 8 where name.equalsIgnoringCase("samesite"):
            processSameSite(value, profile)
        case 11 where name.equalsIgnoringCase("partitioned"):
            // CHIPS; the draft does not have it.
            isPartitioned = true
        default:
            // Section 5.6, attributes, step 7: Ignore an attribute with an unknown name.
            break
        }
    }

    /// The Max-Age Attribute (section 5.6.2 of the draft, steps 1 to 4).
    private static func deltaSeconds(_ value: Span<UInt8>) -> Int64? {
        // Step 1: Ignore the attribute if its value is empty.
        guard !value.isEmpty else { return nil }
        // Step 2: Ignore it unless it begins with a digit, or with a hyphen and a digit.
        let isNegative = value[0] == ASCII.hyphen
        guard value.count > (isNegative ? 1 : 0) else { return nil }
        // Step 3: Ignore it if anything but digits follows.
        // Step 4: Read the value as a decimal integer.
        var seconds: Int64 = 0
        for index in (isNegative ? 1 : 0)..<value.count {
            guard ASCII.isDigit(value[index]) else { return nil }
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(value[index] &- ASCII.zero))
            seconds = overflow || carry ? .max : sum
        }
        return isNegative ? -seconds : seconds
    }

    /// The Path Attribute (section 5.6.4 of the draft).
    private mutating func processPath(_ value: Span<UInt8>, _ place: Range<Int>, _ profile: CookieProfile) {
        // Step 1: The path is the value, or the default-path if the value is empty or does not begin with a slash.
        // Step 2: Add the path; the last one counts. (Departure: a default-path is not added, with the profile's flag.)
        if !value.isEmpty, value[0] == ASCII.slash {
            path = .place(OctetRange(place))
        } else if !profile.contains(.ignoresRelativePath) {
            path = .default
        }
    }

    /// The SameSite Attribute (section 5.6.7 of the draft).
    private mutating func processSameSite(_ value: Span<UInt8>, _ profile: CookieProfile) {
        // Step 5: Add the enforcement; the last one counts.
        if value.equalsIgnoringCase("none") {
            // Step 2: "None" in any case is `none`.
            sameSite = SameSite.none
        } else if value.equalsIgnoringCase("strict") {
            // Step 3: "Strict" in any case is `strict`.
            sameSite = .strict
        } else if value.equalsIgnoringCase("lax") {
            // Step 4: "Lax" in any case is `lax`.
            sameSite = .lax
        } else if !profile.contains(.keepsEarlierSameSite) {
            // Step 1: Any other value is `default`. (Departure: it is ignored, with the profile's flag.)
            sameSite = .default
        }
    }
}
