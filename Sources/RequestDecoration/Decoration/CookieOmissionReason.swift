public import CookieModel

/// Why a cookie that the jar has for a request does not go with it.
public enum CookieOmissionReason: UInt8, DecisionReason {
    /// The caller has set a cookie of that name.
    case setByCaller
    /// The client's header fields are text that cannot be these octets.
    case octetsNotCarried

    /// The stable identifier.
    public var identifier: String {
        switch self {
        case .setByCaller: "set-by-caller"
        case .octetsNotCarried: "octets-not-carried"
        }
    }

    /// One sentence for a person.
    public var explanation: String {
        switch self {
        case .setByCaller: "the request already has a cookie of this name, which takes precedence"
        case .octetsNotCarried: "the client accepts header fields only as text, which cannot carry these octets"
        }
    }

    /// How a user or a server fixes it, for a person.
    public var remedy: String {
        switch self {
        case .setByCaller: "remove the cookie from the request"
        case .octetsNotCarried: "use a client that accepts octets; the server can encode the value in ASCII"
        }
    }
}
