import Hummingbird
import NIOCore
import NIOHTTP1

/// What a connection is answered that never got as far as a route.
extension ServiceProblem {
    static let headLate = ServiceProblem(
        .requestTimeout, "request-late", "the request did not arrive in time; send it at once")

    static let bodyLate = ServiceProblem(
        .requestTimeout, "request-late", "the body of the request arrived too slowly; send it faster")

    static let bodyTooLarge = ServiceProblem(
        .contentTooLarge, "body-too-large", "the body of the request is larger than this service takes")

    static let tooManyConnections: ServiceProblem = {
        var problem = ServiceProblem(
            .serviceUnavailable, "connections-exhausted", "too many connections are open; try again in a moment")
        problem.fields[.retryAfter] = "1"
        return problem
    }()

    /// A method that no path is asked for by (RFC 9110, section 15.6.2).
    static let methodUnknown = ServiceProblem(
        .notImplemented, "method-unknown", "this service does not know this method; use GET, POST, PUT, PATCH or DELETE"
    )

    /// What is wrong with bytes that are no request.
    ///
    /// - Parameter method: the token that they begin with; `nil` where they begin with none.
    init(malformed error: any Error, method: String? = nil) {
        if case HTTPParserError.invalidMethod = error, method != nil {
            self = .methodUnknown
        } else if case HTTPParserError.headerOverflow = error {
            self.init(
                .requestHeaderFieldsTooLarge, "header-too-large",
                "the header fields of the request are larger than this service takes")
        } else {
            self.init(.badRequest, "request-malformed", "these bytes are no HTTP/1.1 request")
        }
    }
}
