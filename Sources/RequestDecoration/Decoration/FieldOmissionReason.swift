public import CookieModel

/// Why a header field of the settings does not go onto a request.
public enum FieldOmissionReason: UInt8, DecisionReason {
    /// The caller has set the field.
    case setByCaller
    /// A field that settings cannot set.
    case reserved
    /// The request goes to a URL that the field is not meant for.
    case outsideScope
    /// A credential, and a connection that others can read.
    case insecureTransport
    /// A credential, and a request that another origin has redirected here.
    case crossOriginRedirect
    /// There are no tokens.
    case tokenMissing
    /// The access token has expired.
    case tokenExpired
    /// The token is of a type that is not known, the key that it is bound to is missing, or no header field can hold it.
    case tokenNotPresentable
    /// The client's header fields are text that cannot be these octets.
    case octetsNotCarried
    /// Another rule has set the field, one for fewer URLs or one that comes first.
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

    /// One sentence for a person.
    public var explanation: String {
        switch self {
        case .setByCaller: "the request has the field already, and the caller's own wins"
        case .reserved: "the field is not for settings: the jar, a rule for credentials or the client sets it"
        case .outsideScope: "the URL is not one that the field is meant for"
        case .insecureTransport: "the connection is not secure, and a credential could be read on its way"
        case .crossOriginRedirect: "another origin has redirected here, and may not use the credential"
        case .tokenMissing: "there is no token"
        case .tokenExpired: "the access token has expired"
        case .tokenNotPresentable: "the token is not one that a header field can present, or lacks its key"
        case .octetsNotCarried: "the client takes header fields as text, which cannot be exactly its octets"
        case .setByOtherRule: "another rule for the URL has set the field, and each field is set once"
        case .unreadable: "the stored value was changed or moved, so it is not known"
        }
    }

    /// What a server or a user does about it, for a person.
    public var remedy: String {
        switch self {
        case .setByCaller: "user: leave the field out of the request"
        case .reserved: "user: take the field out of the settings"
        case .outsideScope: "user: check the URL, or the scope of the rule"
        case .insecureTransport: "user: use https"
        case .crossOriginRedirect: "user: request the URL itself, where the redirect is to be trusted"
        case .tokenMissing: "user: log in, or import the token"
        case .tokenExpired: "user: refresh the token"
        case .tokenNotPresentable:
            "server: issue a Bearer or DPoP token; user: log in, so that the key is kept with the token"
        case .octetsNotCarried: "user: write the value in ASCII"
        case .setByOtherRule: "user: take one of the rules out"
        case .unreadable: "user: set the field again"
        }
    }
}
