import Hummingbird
import NIOCore
import SessionOperations

/// What a request is answered that is not admitted.
extension ServiceProblem {
    static let hostRefused = ServiceProblem(
        .hostRefused,
        "this service does not answer for that host; allow the name in the service's configuration ('hosts')")

    static let originRefused = ServiceProblem(
        .originRefused, "this service answers no other site's pages")

    static let targetInvalid = ServiceProblem(
        .requestMalformed, "the request's target must be a path, and its host stand in one Host field")

    static let contentTypeRefused = ServiceProblem(
        .contentTypeRefused,
        "a body needs a Content-Type, such as application/json, and not one that a form can send")

    static let contentEncodingRefused = ServiceProblem(
        .contentEncodingRefused, "bodies are taken as they are; send it without encoding")

    static let tokenMissing = unauthorized(
        .tokenMissing, "this needs an access token: 'Authorization: Bearer ...'; 'crumb serve token' makes one")

    static let tokenRefused = unauthorized(
        .tokenRefused, "this access token is not valid, or no longer; 'crumb serve token list' shows those there are")

    private static func unauthorized(_ failure: FailureKind, _ detail: String) -> ServiceProblem {
        var problem = ServiceProblem(failure, detail)
        problem.fields[.wwwAuthenticate] =
            failure == .tokenMissing ? #"Bearer realm="crumb""# : #"Bearer realm="crumb", error="invalid_token""#
        return problem
    }

    /// What the caller does comes too early.
    ///
    /// - Parameter reason: What happened: a clause.
    static func tooManyRequests(
        _ reason: String = "too many requests", retryAfter wait: TimeAmount
    ) -> ServiceProblem {
        let seconds = Int(max(1, (wait.nanoseconds + 999_999_999) / 1_000_000_000))
        var problem = ServiceProblem(
            .rateLimited, "\(reason); try again in \(counted(seconds, "second"))")
        problem.fields[.retryAfter] = String(seconds)
        return problem
    }
}
