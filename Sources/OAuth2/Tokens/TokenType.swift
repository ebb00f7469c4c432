/// How an access token is presented to a resource server (RFC 6749, section 7.1).
///
/// Types compare without regard to case, as section 5.1 has it: servers answer `Bearer` and `bearer`.
public struct TokenType: Sendable, CustomStringConvertible {
    /// The type as the server wrote it.
    public let name: String

    /// A type by its name, in any case.
    public init(_ name: String) {
        self.name = name
    }

    /// `Bearer`: whoever has the token may use it (RFC 6750).
    public static let bearer = TokenType("Bearer")
    /// `DPoP`: the token is bound to a key, and needs a proof with each request (RFC 9449).
    public static let dpop = TokenType("DPoP")

    /// The type as the server wrote it.
    public var description: String { name }
}

extension TokenType: Hashable {
    /// Whether both name the same type, in any case.
    public static func == (left: TokenType, right: TokenType) -> Bool {
        left.name.lowercased() == right.name.lowercased()
    }

    /// Feeds the name in lower case to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercased())
    }
}
