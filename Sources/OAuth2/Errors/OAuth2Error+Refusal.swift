internal import WebPrimitives

extension OAuth2Error {
    /// The error that a reply of the server is: an error code, a status that is none of success, or both.
    ///
    /// - Parameters:
    ///   - status: The reply's status; `nil` for a redirect, which has none.
    ///   - members: The reply's members, empty where it was not a JSON object.
    ///   - bodyKind: What the body was, for the sentence.
    static func refusal(status: Int?, members: JSONObject, bodyKind: String, redacting secrets: [Secret]) -> Self {
        let serverCode = ServerText.errorCode(members["error"], redacting: secrets)
        let serverDescription = ServerText.errorDescription(members["error_description"], redacting: secrets)
        let code = code(status: status, serverCode: serverCode)
        return OAuth2Error(
            code, status: status, serverCode: serverCode, serverDescription: serverDescription,
            sentence(code: code, status: status, serverCode, serverDescription, bodyKind: bodyKind))
    }

    private static func code(status: Int?, serverCode: String?) -> Code {
        switch (status ?? 400, serverCode) {
        // Whatever the body of a failing server says, the grant may be as good as before.
        case (408, _), (425, _), (429, _), (500..., _), (_, "server_error"), (_, "temporarily_unavailable"):
            .serverUnavailable
        case (_, "invalid_grant"): .invalidGrant
        case (_, "invalid_client"): .invalidClient
        case (_, "access_denied"): .accessDenied
        case (_, "expired_token"): .deviceCodeExpired
        case (200..<300, .some), (400..<500, .some): .refused
        default: .unexpectedStatus
        }
    }

    private static func sentence(
        code: Code, status: Int?, _ serverCode: String?, _ serverDescription: String?, bodyKind: String
    ) -> String {
        if code == .unexpectedStatus, let status, (300..<400).contains(status) {
            return "The server redirects the request (status \(status)), and nothing secret is sent on; give the issuer"
                + " or the endpoint that it means."
        }
        let verdict =
            switch code {
            case .invalidGrant: "The server no longer accepts the grant"
            case .invalidClient: "The server does not accept the client"
            case .accessDenied: "Access was denied"
            case .deviceCodeExpired: "The code was not confirmed in time"
            case .serverUnavailable: "The server cannot answer now"
            case .refused: "The server refused the request"
            default: "The server did not answer as an authorization server does"
            }
        let reason =
            switch (serverCode, serverDescription) {
            case (let code?, let text?): "\(code), \"\(text)\""
            case (let code?, nil): code
            case (nil, let text?): "\"\(text)\""
            case (nil, nil): bodyKind
            }
        return "\(verdict) (\(status.map { "status \($0): " } ?? "")\(reason))."
    }
}
