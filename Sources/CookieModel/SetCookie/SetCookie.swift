public import WebPrimitives

/// One parsed Set-Cookie field value: only its syntax, without a decision (section 5.6 of the draft).
///
/// If an attribute occurs more than once, the last valid one counts. The parts share the line's storage.
public struct SetCookie: Sendable, Hashable {
    /// The result of the `Path` attributes.
    public enum PathAttribute: Sendable, Hashable {
        /// The attribute is absent.
        case absent
        /// It is not an absolute path: the default-path of the request applies.
        case `default`
        /// The path named, beginning with `/`.
        case path(Octets)
    }

    /// The whole line; one reference, into which the parts are places.
    private let line: Octets
    private let namePlace: OctetRange
    private let valuePlace: OctetRange
    var attributes = SetCookieAttributes()

    /// A line without attributes.
    init(_ line: Octets, name: Range<Int>, value: Range<Int>) {
        self.line = line
        namePlace = OctetRange(name)
        valuePlace = OctetRange(value)
    }

    // Where the getter of a part is inlined, the compiler copies the whole to read the part.

    /// The name, possibly empty.
    public var name: Octets { @inline(never) get { line[namePlace] } }
    /// The value, possibly empty.
    public var value: Octets { @inline(never) get { line[valuePlace] } }
    /// The time of the last valid `Expires`, without the limit of lifetimes.
    public var expires: Timestamp? { attributes.expires }
    /// The seconds of the last valid `Max-Age`; saturated if the number is larger than any date.
    public var maxAge: Int64? { attributes.maxAge }
    /// The last `Domain` in lower case, without one leading dot; may be empty.
    public var domain: Octets? {
        guard let place = attributes.domain else { return nil }
        // Section 5.6.3, step 3: Convert the domain to lower case.
        return line[place].lowercased
    }
    /// The result of the `Path` attributes.
    public var path: PathAttribute {
        @inline(never) get {
            switch attributes.path {
            case .absent: .absent
            case .default: .default
            case .place(let place): .path(line[place])
            }
        }
    }
    /// Whether there is a `Secure` attribute.
    public var isSecure: Bool { attributes.flags[.secure] }
    /// Whether there is an `HttpOnly` attribute.
    public var isHTTPOnly: Bool { attributes.flags[.httpOnly] }
    /// The last `SameSite`, `default` for an unknown value, `nil` if there is no such attribute.
    public var sameSite: SameSite? { attributes.sameSite }
    /// Whether there is a `Partitioned` attribute (CHIPS).
    public var isPartitioned: Bool { attributes.isPartitioned }

    /// Whether both have the same contents, independent of their place in their lines.
    public static func == (left: SetCookie, right: SetCookie) -> Bool {
        left.name == right.name && left.value == right.value && left.expires == right.expires
            && left.maxAge == right.maxAge && left.domain == right.domain && left.path == right.path
            && left.attributes.flags == right.attributes.flags
            && left.sameSite == right.sameSite && left.isPartitioned == right.isPartitioned
    }

    /// Feeds name and value to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}

extension SetCookie {
    /// The most octets that name and value may have together (section 5.6 of the draft, step 5).
    package static let nameAndValueLimit = 4096
    /// The most octets that an attribute's value may have (section 5.6 of the draft, attributes, step 6).
    package static let attributeValueLimit = 1024

    /// The result of parsing a field value.
    public enum ParseResult: Sendable, Hashable {
        /// The parsed cookie, for a decision.
        case cookie(SetCookie)
        /// The algorithm ignores the line entirely.
        case ignored(ReasonSet<RejectionReason>)
    }

    /// Parses a set-cookie-string (section 5.6 of the draft, first algorithm).
    ///
    /// Linear in the number of bytes. The result shares their storage.
    ///
    /// - Parameter profile: the divergences of the draft's successor that apply.
    public static func parse(_ fieldValue: Octets, profile: CookieProfile = .rfc6265bis) -> ParseResult {
        var reasons = ReasonSet<RejectionReason>()
        return parse(fieldValue, profile, &reasons).map { .cookie($0) } ?? .ignored(reasons)
    }

    /// Parses a set-cookie-string; `nil`, and the reasons for it, if the algorithm ignores the line.
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
        // Step 1: Ignore the line if it contains a control character other than tab.
        if bytes.containsControl { reasons.insert(.controlCharacter) }
        // Step 2: The name-value pair ends at the first semicolon; the attributes follow.
        // Step 3: The first equals sign in the pair divides name and value. Without one, the pair is all value.
        var pairEnd = bytes.position(of: ASCII.semicolon, or: ASCII.equals, in: 0..<bytes.count)
        var equals = -1
        if pairEnd < bytes.count, bytes[pairEnd] == ASCII.equals {
            equals = pairEnd
            pairEnd = bytes.position(of: ASCII.semicolon, in: (equals + 1)..<bytes.count)
        }
        // Step 4: Remove spaces and tabs around the name and the value.
        let name = bytes.trimmingBlanks(0..<max(equals, 0))
        let value = bytes.trimmingBlanks((equals + 1)..<pairEnd)
        // Step 5: Ignore the line if name and value together have more than 4096 octets.
        if name.count + value.count > SetCookie.nameAndValueLimit { reasons.insert(.nameAndValueTooLong) }
        // Section 5.7, step 2: Ignore the cookie if its name and its value are empty. No request changes that.
        if name.isEmpty, value.isEmpty { reasons.insert(.emptyNameAndValue) }
        guard reasons.isEmpty else { return nil }
        // Step 6: These are the cookie's name and value.
        var setCookie = SetCookie(octets, name: name, value: value)
        setCookie.attributes.parse(bytes, pairEnd..<bytes.count, profile)
        return setCookie
    }
}
