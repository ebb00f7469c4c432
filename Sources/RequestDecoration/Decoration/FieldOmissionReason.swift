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
        case .setByCaller: "the request already has this field, which takes precedence"
        case .reserved: "settings cannot set this field: the jar, a credential rule or the client sets it"
        case .outsideScope: "the URL is outside the field's scope"
        case .insecureTransport: "an insecure connection cannot carry a credential"
        case .crossOriginRedirect: "a redirect from another origin cannot carry a credential"
        case .tokenMissing: "there is no token"
        case .tokenExpired: "the access token has expired"
        case .tokenNotPresentable: "a header field cannot present this token, or its key is missing"
        case .octetsNotCarried: "the client accepts header fields only as text, which cannot carry these octets"
        case .setByOtherRule: "another rule for the URL sets this field, and each field is set once"
        case .unreadable: "the stored value cannot be read back"
        }
    }

    /// How a user or a server fixes it, for a person.
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
