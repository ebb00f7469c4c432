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
        if refusal.code == FailureKind.tokenMissing.code {
            self.init(
                .serviceRefused,
                "\(refusal.address): the service wants an access token; name its file with --service-token-file or "
                    + "CRUMB_SERVICE_TOKEN_FILE")
            return
        }
        // A failure of the service itself is none of the command's.
        let known = FailureKind(rawValue: refusal.code)
        let failure = known == .internalError ? .serviceUnavailable : known ?? .serviceUnavailable
        switch failure.exitStatus {
        case FailureKind.serviceRefused.exitStatus: self.init(.serviceRefused, "\(refusal.address): \(detail)")
        case FailureKind.serviceUnavailable.exitStatus: self.init(.serviceUnavailable, "\(refusal.address): \(detail)")
        case FailureKind.serviceIncompatible.exitStatus:
            self.init(
                .serviceIncompatible, "\(refusal.address): the service is of another version of crumb: \(detail)")
        default: self.init(advising: failure, detail)
        }
    }
}
