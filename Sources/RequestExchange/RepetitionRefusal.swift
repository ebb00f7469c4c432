/// Why a request is not sent once more although its response says "not signed in".
///
/// The login renews the session all the same, so the next request works.
public enum RepetitionRefusal: String, Sendable, CaseIterable {
    /// The server may have acted on the request.
    case mayHaveActed = "may-have-acted"
    /// The body can be sent only once.
    case bodyNotRepeatable = "body-not-repeatable"

    /// The reason and the next step, for the user.
    ///
    /// - Parameters:
    ///   - url: The URL of the request that was not sent once more, as it may be shown.
    ///   - method: Its method.
    ///   - bodyReason: Why its body cannot be sent again.
    package func message(for url: String, _ method: String, bodyReason: String) -> String {
        let (reason, step) =
            switch self {
            case .mayHaveActed:
                ("the site may have acted on it", "check the result, and send it again if necessary")
            case .bodyNotRepeatable: (bodyReason, "send it again")
            }
        return "\(url): the site responded 'not signed in' to a \(method) request, which was not repeated, since "
            + "\(reason). The session is renewed: \(step)"
    }

    /// The reason by what is known of the request; `nil` if it may be sent once more.
    ///
    /// - Parameters:
    ///   - mayRepeat: Whether the method is safe, or the server has certainly not acted on the request.
    ///   - isBodyRepeatable: Whether the request has no body, or one that can be sent again.
    package init?(mayRepeat: Bool, isBodyRepeatable: Bool) {
        guard !mayRepeat || !isBodyRepeatable else { return nil }
        self = mayRepeat ? .bodyNotRepeatable : .mayHaveActed
    }
}
