public import WebPrimitives

/// One parsed Set-Cookie field value: syntax only, nothing decided (section 5.6 of the draft).
///
/// Of an attribute that stands more than once, the last one that counts is kept. The parts share the line's storage.
public struct SetCookie: Sendable, Hashable {
    /// What the `Path` attributes say.
    public enum PathAttribute: Sendable, Hashable {
        /// There is none.
        case absent
        /// There is one that names no absolute path: the default-path of the request applies.
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
    /// The moment that the last valid `Expires` names, uncapped.
    public var expires: Timestamp? { attributes.expires }
    /// The seconds of the last valid `Max-Age`; saturated where the number is larger than any date.
    public var maxAge: Int64? { attributes.maxAge }
    /// The last `Domain` in lower case, without one leading dot; may be empty.
    public var domain: Octets? {
        guard let place = attributes.domain else { return nil }
        return line[place].lowercased
    }
    /// What the `Path` attributes say.
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
    public var isSecure: Bool { attributes.isSecure }
    /// Whether there is an `HttpOnly` attribute.
    public var isHTTPOnly: Bool { attributes.isHTTPOnly }
    /// The last `SameSite`, `default` for an unknown value, `nil` where there is no such attribute.
    public var sameSite: SameSite? { attributes.sameSite }
    /// Whether there is a `Partitioned` attribute (CHIPS).
    public var isPartitioned: Bool { attributes.isPartitioned }

    /// Whether both say the same, wherever it stands in their lines.
    public static func == (left: SetCookie, right: SetCookie) -> Bool {
        left.name == right.name && left.value == right.value && left.expires == right.expires
            && left.maxAge == right.maxAge && left.domain == right.domain && left.path == right.path
            && left.isSecure == right.isSecure && left.isHTTPOnly == right.isHTTPOnly
            && left.sameSite == right.sameSite && left.isPartitioned == right.isPartitioned
    }

    /// Feeds name and value to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}
