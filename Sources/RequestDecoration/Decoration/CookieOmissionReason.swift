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
        case .setByCaller: "the request has a cookie of that name already, which wins"
        case .octetsNotCarried: "the client takes header fields as text, which cannot be exactly its octets"
        }
    }

    /// What a server or a user does about it, for a person.
    public var remedy: String {
        switch self {
        case .setByCaller: "user: leave the cookie out of the request"
        case .octetsNotCarried: "server: encode the value in ASCII; user: use a client that takes octets"
        }
    }
}
