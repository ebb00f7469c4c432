public import WebPrimitives

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

    /// Parses a set-cookie-string (section 5.6). Linear in the number of bytes; what is parsed shares their storage.
    ///
    /// - Parameter profile: the divergences of the draft's successor that apply.
    public static func parse(_ fieldValue: Octets, profile: CookieProfile = .rfc6265bis) -> ParseResult {
        var reasons = ReasonSet<RejectionReason>()
        return parse(fieldValue, profile, &reasons).map { .cookie($0) } ?? .ignored(reasons)
    }

    /// Parses a set-cookie-string; `nil`, and the reasons for it, where the algorithm ignores the line.
    static func parse(
        _ fieldValue: Octets, _ profile: CookieProfile, _ reasons: inout ReasonSet<RejectionReason>
    ) -> SetCookie? {
        fieldValue.withSpan { parse($0, fieldValue, profile, &reasons) }
    }

    @inline(__always)
    private static func parse(
        _ bytes: Span<UInt8>, _ octets: Octets, _ profile: CookieProfile,
        _ reasons: inout ReasonSet<RejectionReason>
    ) -> SetCookie? {
        // Step 1.
        if bytes.containsControl { reasons.insert(.controlCharacter) }
        // Steps 2 and 3.
        var pairEnd = bytes.position(of: ASCII.semicolon, or: ASCII.equals, in: 0..<bytes.count)
        var equals = -1
        if pairEnd < bytes.count, bytes[pairEnd] == ASCII.equals {
            equals = pairEnd
            pairEnd = bytes.position(of: ASCII.semicolon, in: (equals + 1)..<bytes.count)
        }
        // Step 4.
        let name = bytes.trimmingBlanks(0..<max(equals, 0))
        let value = bytes.trimmingBlanks((equals + 1)..<pairEnd)
        // Step 5.
        if name.count + value.count > SetCookie.nameAndValueLimit { reasons.insert(.nameAndValueTooLong) }
        // Section 5.7, step 2, is the same for every request: nothing to decide.
        if name.isEmpty, value.isEmpty { reasons.insert(.emptyNameAndValue) }
        guard reasons.isEmpty else { return nil }
        var setCookie = SetCookie(octets, name: name, value: value)
        setCookie.attributes.parse(bytes, pairEnd..<bytes.count, profile)
        return setCookie
    }
}
