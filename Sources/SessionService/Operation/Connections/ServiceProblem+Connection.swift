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

    /// What is wrong with bytes that are no request.
    init(malformed error: any Error) {
        if case HTTPParserError.headerOverflow = error {
            self.init(
                .requestHeaderFieldsTooLarge, "header-too-large",
                "the header fields of the request are larger than this service takes")
        } else {
            self.init(.badRequest, "request-malformed", "these bytes are no HTTP/1.1 request")
        }
    }
}
