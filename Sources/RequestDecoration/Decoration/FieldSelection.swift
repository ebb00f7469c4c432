public import CookieModel
package import HTTPTypes
package import SessionStore

/// The header fields of a jar or of settings that are sent with a request, and the others with the reason.
package struct FieldSelection: Sendable {
    /// A field that does not go.
    package struct Omission: Sendable {
        package let name: String
        /// The start of the URLs that it is for; `nil` for all.
        package let scope: String?
        package let reason: FieldOmissionReason
    }

    /// A field that goes.
    package struct Sent: Sendable {
        /// The start of the URLs that it is for; `nil` for all.
        package let scope: String?
        package let fieldName: HTTPField.Name
        package let value: Octets

        /// The name as it was written.
        package var name: String { fieldName.rawName }
    }

    /// The fields that go, in the order of their rules.
    package private(set) var sent: [Sent] = []
    /// The fields that do not.
    package private(set) var omitted: [Omission] = []

    /// No fields.
    package init() {}

    /// Selects the `fields` for a request to `url`. Of several fields with one name, the first one whose scope includes
    /// the URL counts.
    ///
    /// - Parameter isSetByCaller: whether the request already has a field of the name, which is in lower case.
    package init(
        _ fields: [StoredHeaderField], for url: RequestURL, isSetByCaller: (String) -> Bool = { _ in false }
    ) {
        for stored in fields {
            guard let rule = FieldRule(stored) else {
                omit(stored.name, scope: stored.scope, .unreadable)
                continue
            }
            add(rule, scope: stored.scope, for: url, isSetByCaller: { isSetByCaller($0.canonicalName) })
        }
    }

    /// Decides on the field of one more rule.
    ///
    /// - Parameters:
    ///   - scope: The rule's scope as it was written.
    ///   - carries: Whether the client sends octets exactly as they are.
    mutating func add(
        _ rule: FieldRule, scope: String?, for url: RequestURL, isSetByCaller: (HTTPField.Name) -> Bool,
        carries: (Octets) -> Bool = { _ in true }
    ) {
        let name = rule.field.name
        let reason = rule.omission(
            from: url, isSetByCaller: isSetByCaller(name),
            isSetByOtherRule: sent.contains { $0.fieldName == name })
        if let reason { return omit(rule.name, scope: scope, reason) }
        let value = rule.value
        guard carries(value) else { return omit(rule.name, scope: scope, .octetsNotCarried) }
        sent.append(Sent(scope: scope, fieldName: name, value: value))
    }

    /// Notes a field that is not sent.
    mutating func omit(_ name: String, scope: String?, _ reason: FieldOmissionReason) {
        omitted.append(Omission(name: name, scope: scope, reason: reason))
    }
}

/// Why a header field is not added to a request.
public enum FieldOmissionReason: UInt8, DecisionReason {
    /// The caller has set the field.
    case setByCaller
    /// A field that settings cannot set.
    case reserved
    /// The URL of the request is outside of the field's scope.
    case outsideScope
    /// The field is a credential, and the connection is not encrypted.
    case insecureTransport
    /// The field is a credential, and another origin redirected the request here.
    case crossOriginRedirect
    /// There are no tokens.
    case tokenMissing
    /// The access token has expired.
    case tokenExpired
    /// The type of the token is unknown, the key that it is bound to is missing, or no header field can carry it.
    case tokenNotPresentable
    /// The client accepts header fields only as text, which cannot carry these octets.
    case octetsNotCarried
    /// Another rule has set the field: one with a narrower scope, or an earlier one.
    case setByOtherRule
    /// The stored value was changed or moved.
    case unreadable

    /// The stable identifier.
    public var identifier: String {
        switch self {
        case .setByCaller: "set-by-caller"
        case .reserved: "reserved-field"
        case .outsideScope: "outside-scope"
        case .insecureTransport: "insecure-transport"
        case .crossOriginRedirect: "cross-origin-redirect"
        case .tokenMissing: "token-missing"
        case .tokenExpired: "token-expired"
        case .tokenNotPresentable: "token-not-presentable"
        case .octetsNotCarried: "octets-not-carried"
        case .setByOtherRule: "set-by-other-rule"
        case .unreadable: "unreadable"
        }
    }

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .setByCaller: "the request already has this field, which takes precedence"
        case .reserved: "settings cannot set this field: the jar, a credential rule or the client sets it"
        case .outsideScope: "the URL is outside the field's scope"
        case .insecureTransport: "an insecure connection cannot carry a credential"
        case .crossOriginRedirect: "a redirect from another origin cannot carry a credential"
        case .tokenMissing: "the token is missing"
        case .tokenExpired: "the access token has expired"
        case .tokenNotPresentable: "a header field cannot present this token, or its key is missing"
        case .octetsNotCarried: "the client accepts header fields only as text, which cannot carry these octets"
        case .setByOtherRule: "another rule for the URL sets this field, and each field is set once"
        case .unreadable: "the stored value cannot be read back"
        }
    }

    /// The fix, for a user or a server.
    public var remedy: String {
        switch self {
        case .setByCaller: "remove the field from the request"
        case .reserved: "remove the field from the settings"
        case .outsideScope: "check the URL and the scope of the rule"
        case .insecureTransport: "use https"
        case .crossOriginRedirect: "request the URL itself if you trust the redirect"
        case .tokenMissing: "log in, or import the token"
        case .tokenExpired: "refresh the token"
        case .tokenNotPresentable:
            "log in so that the key is stored with the token; the server must issue a Bearer or DPoP token"
        case .octetsNotCarried: "write the value in ASCII"
        case .setByOtherRule: "remove one of the rules"
        case .unreadable: "set the field again"
        }
    }
}

/// The URLs that a credential or a header field is for: an origin, and the paths at or below a path.
///
/// `https://api.example.com/v2` includes `https://api.example.com/v2` and `https://api.example.com/v2/users?q=1`, but
/// not `/v21`, another port or `http`.
public struct URLScope: Sendable, Hashable, CustomStringConvertible {
    /// The URL that all others begin with. Its query is ignored.
    package let prefix: RequestURL

    /// Creates a scope of the URLs at and below `prefix`.
    public init(_ prefix: RequestURL) {
        self.prefix = prefix
    }

    /// Creates a scope of the URLs at and below a URL.
    public init(_ text: String) throws(RequestURLError) {
        prefix = try RequestURL(text)
    }

    /// Whether the host has an asterisk in it, as no host has that a scope is meant for.
    package var hasWildcard: Bool { prefix.host.octets.contains(UInt8(ascii: "*")) }

    /// Whether `url` is in the scope.
    package func contains(_ url: RequestURL) -> Bool {
        guard url.isSameOrigin(as: prefix), url.path.starts(with: prefix.path) else { return false }
        let end = prefix.path.count
        return url.path.count == end || prefix.path.last == UInt8(ascii: "/") || url.path[end] == UInt8(ascii: "/")
    }

    /// The URL that all others begin with.
    public var description: String {
        prefix.origin + String(decoding: prefix.path, as: UTF8.self)
    }
}
