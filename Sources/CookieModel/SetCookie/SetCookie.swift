/// One parsed Set-Cookie field value: syntax only, nothing decided (section 5.6 of the draft).
///
/// Of an attribute that stands more than once, the last one that counts is kept.
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

    /// The name, possibly empty.
    public var name: Octets
    /// The value, possibly empty.
    public var value: Octets
    /// The moment that the last valid `Expires` names, uncapped.
    public var expires: Timestamp?
    /// The seconds of the last valid `Max-Age`; saturated where the number is larger than any date.
    public var maxAge: Int64?
    /// The last `Domain` in lower case, without one leading dot; may be empty.
    public var domain: Octets?
    /// What the `Path` attributes say.
    public var path = PathAttribute.absent
    /// Whether there is a `Secure` attribute.
    public var isSecure = false
    /// Whether there is an `HttpOnly` attribute.
    public var isHTTPOnly = false
    /// The last `SameSite`, `default` for an unknown value, `nil` where there is no such attribute.
    public var sameSite: SameSite?
    /// Whether there is a `Partitioned` attribute (CHIPS).
    public var isPartitioned = false

    /// A cookie without attributes.
    public init(name: Octets, value: Octets) {
        self.name = name
        self.value = value
    }
}
