/// The attributes that a cookie has or has not, besides those that its ID and its expiry tell.
///
/// A cookie has them as one value from its line to its row, so that a new attribute is named here, where a line is
/// parsed, where a rule asks for it, and where a format or a row has a place for it.
public struct CookieAttributes: OptionSet, Sendable, Hashable {
    /// One bit for each attribute.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The secure-only-flag: only secure connections get the cookie.
    @inlinable public static var secure: CookieAttributes { CookieAttributes(rawValue: 1) }
    /// The http-only-flag: the cookie is hidden from scripts.
    @inlinable public static var httpOnly: CookieAttributes { CookieAttributes(rawValue: 2) }

    /// Whether the set has an attribute.
    @inlinable
    package subscript(attribute: CookieAttributes) -> Bool {
        get { rawValue & attribute.rawValue != 0 }
        set {
            self = CookieAttributes(
                rawValue: newValue ? rawValue | attribute.rawValue : rawValue & ~attribute.rawValue)
        }
    }

    /// The attributes by their flags.
    @inlinable
    package init(isSecure: Bool, isHTTPOnly: Bool) {
        self.init(rawValue: (isSecure ? 1 : 0) | (isHTTPOnly ? 2 : 0))
    }
}
