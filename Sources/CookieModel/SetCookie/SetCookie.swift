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
    private let namePlace: LinePlace
    private let valuePlace: LinePlace
    private let attributes: SetCookieAttributes

    init(_ line: Octets, name: Range<Int>, value: Range<Int>, _ attributes: SetCookieAttributes) {
        self.line = line
        namePlace = LinePlace(name)
        valuePlace = LinePlace(value)
        self.attributes = attributes
    }

    /// The name, possibly empty.
    public var name: Octets { line[namePlace.range] }
    /// The value, possibly empty.
    public var value: Octets { line[valuePlace.range] }
    /// The moment that the last valid `Expires` names, uncapped.
    public var expires: Timestamp? { attributes.expires }
    /// The seconds of the last valid `Max-Age`; saturated where the number is larger than any date.
    public var maxAge: Int64? { attributes.maxAge }
    /// The last `Domain` in lower case, without one leading dot; may be empty.
    public var domain: Octets? { attributes.domain.map { line[$0.range].lowercased } }
    /// What the `Path` attributes say.
    public var path: PathAttribute {
        switch attributes.path {
        case .absent: .absent
        case .default: .default
        case .place(let place): .path(line[place.range])
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
