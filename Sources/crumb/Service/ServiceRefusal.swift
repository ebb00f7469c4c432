import SessionOperations

/// A problem that a service has answered.
struct ServiceRefusal: Error {
    let report: ProblemReport
    let address: ServiceAddress

    init(_ report: ProblemReport, by address: ServiceAddress) {
        self.report = report
        self.address = address
    }

    var code: String { report.code }
}

extension Problem {
    /// A service's problem as the command says it: what fails in the same way on a file has the same sentence and status.
    init(_ refusal: ServiceRefusal) {
        let detail = refusal.report.detail
        switch refusal.code {
        case "token-missing":
            self.init(
                .serviceRefused,
                "\(refusal.address): the service wants an access token; name its file with --service-token-file or "
                    + "CRUMB_SERVICE_TOKEN_FILE")
        case "unauthenticated", "forbidden", "token-refused", "host-refused", "origin-refused",
            "agent-passphrase-wrong":
            self.init(.serviceRefused, "\(refusal.address): \(detail)")
        case "not-found", "method-not-allowed", "parameter-invalid", "parameter-missing", "path-invalid",
            "body-invalid", "media-type-unsupported", "content-type-refused", "request-malformed", "request-invalid":
            self.init(
                .serviceIncompatible, "\(refusal.address): the service is of another version of crumb: \(detail)")
        case let code where ExitStatus.allCases.contains { $0.code == code }:
            self.init(advising: ExitStatus(code: code), detail)
        default: self.init(.serviceUnavailable, "\(refusal.address): \(detail)")
        }
    }
}
