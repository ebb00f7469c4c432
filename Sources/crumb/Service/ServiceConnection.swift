import Foundation
import NetworkHelper
import SessionOperations

/// Asks a running service, through the program that speaks HTTP.
struct ServiceConnection {
    /// More than any problem has to say.
    private static let problemLimit = 1 << 20

    let address: ServiceAddress
    /// The most bytes of a file with certificates.
    private static let certificateLimit = 512 << 10

    private let token: ServiceTokenFile?
    /// Certificates in PEM that are trusted besides the system's.
    private let authorities: String?

    init(address: ServiceAddress, token: ServiceTokenFile?, authorities: String? = nil) {
        self.address = address
        self.token = token
        self.authorities = authorities
    }

    /// The certificates in a file, in PEM.
    static func certificates(in path: String) throws -> String {
        let text = String(decoding: try InputFile(path).contents(limit: certificateLimit), as: UTF8.self)
        guard text.contains("-----BEGIN CERTIFICATE-----") else {
            throw Problem(.inputUnrecognized, "\(path): this file has no certificate in PEM; name another --service-ca")
        }
        return text
    }

    /// The answer to a request, in JSON.
    ///
    /// - Throws: `ServiceRefusal` where the service says a problem.
    func answer<Answer: Decodable>(to request: ServiceRequest, as type: Answer.Type = Answer.self) throws -> Answer {
        let gathered = Gathered()
        try send(request) { gathered.bytes += $0 }
        return try decoded(gathered.bytes)
    }

    /// A document of an answer.
    func decoded<Answer: Decodable>(_ bytes: [UInt8], as type: Answer.Type = Answer.self) throws -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(bytes))
        } catch {
            throw incompatible
        }
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - accept: the form of the answer.
    ///   - upload: gives the next bytes of the body, `nil` at its end; `nil` for the request's own body.
    ///   - consume: is given the body of an answer that is no problem, as it comes.
    func send(
        _ request: ServiceRequest, accept: String = "application/json", upload: (() throws -> [UInt8]?)? = nil,
        consume: @escaping ([UInt8]) throws -> Void
    ) throws {
        let gathered = Gathered()
        gathered.rest = request.body
        let body: ServiceCall.Body =
            upload != nil ? .streamed : request.body.map { .whole(byteCount: $0.count) } ?? .none
        let type = upload == nil ? request.body.map { _ in "application/json" } : "application/octet-stream"
        let call = ServiceCall(
            HelperRequest(
                method: request.method, url: address.base + request.target, fields: fields(accept: accept, type: type)),
            body: body, authorities: authorities)
        try NetworkProgram().call(call, next: upload ?? gathered.takeRest) { head in
            switch head {
            case .failure(let failure):
                throw Problem(.serviceUnavailable, "\(address): \(failure.reason)")
            case .success(let head): gathered.status = head.status
            }
        } consume: { bytes in
            if (200..<300).contains(gathered.status) {
                try consume(bytes)
            } else if gathered.bytes.count < ServiceConnection.problemLimit {
                gathered.bytes += bytes
            }
        }
        guard !(200..<300).contains(gathered.status) else { return }
        guard let report = try? JSONDecoder().decode(ProblemReport.self, from: Data(gathered.bytes)) else {
            throw incompatible
        }
        throw ServiceRefusal(report, by: address)
    }

    /// What is answered by something else, or by another version.
    var incompatible: Problem {
        Problem(.serviceIncompatible, "\(address): this is no service of crumb's, or one of another version")
    }

    private func fields(accept: String, type: String?) -> [HelperRequest.Field] {
        var fields = [HelperRequest.Field(name: "Accept", value: accept)]
        if let type { fields.append(HelperRequest.Field(name: "Content-Type", value: type)) }
        if let host = address.host { fields.append(HelperRequest.Field(name: "Host", value: host)) }
        if let token { fields.append(HelperRequest.Field(name: "Authorization", value: token.exposedField)) }
        return fields
    }

    /// What has come of one answer.
    private final class Gathered {
        var status = 0
        var bytes: [UInt8] = []
        /// What of the request's body was not sent yet.
        var rest: [UInt8]?

        func takeRest() -> [UInt8]? {
            defer { rest = nil }
            return rest
        }
    }
}

/// A request to a service.
struct ServiceRequest {
    let method: String
    /// The segments of the path behind `/v1`, as they are.
    let path: [String]
    /// The parameters of the query; those without a value are left out.
    var query: [(name: String, value: String?)] = []
    /// The body in JSON.
    private(set) var body: [UInt8]?

    static func get(_ path: String..., query: [(name: String, value: String?)] = []) -> ServiceRequest {
        ServiceRequest(method: "GET", path: path, query: query)
    }

    static func delete(_ path: String..., query: [(name: String, value: String?)] = []) -> ServiceRequest {
        ServiceRequest(method: "DELETE", path: path, query: query)
    }

    /// A request with nothing to say but its path.
    static func post(_ path: String...) -> ServiceRequest {
        ServiceRequest(method: "POST", path: path)
    }

    /// A request with a document.
    static func post(_ path: String..., document: some Encodable) throws -> ServiceRequest {
        ServiceRequest(method: "POST", path: path, body: Array(try JSONEncoder().encode(document)))
    }

    static func put(_ path: String..., document: some Encodable) throws -> ServiceRequest {
        ServiceRequest(method: "PUT", path: path, body: Array(try JSONEncoder().encode(document)))
    }

    static func patch(_ path: String..., document: some Encodable) throws -> ServiceRequest {
        ServiceRequest(method: "PATCH", path: path, body: Array(try JSONEncoder().encode(document)))
    }

    /// A request whose body comes piece by piece.
    static func upload(_ path: String..., query: [(name: String, value: String?)]) -> ServiceRequest {
        ServiceRequest(method: "POST", path: path, query: query)
    }

    /// Path and query, encoded.
    var target: String {
        let parameters = query.compactMap { name, value in value.map { "\(name)=\(percentEncoded($0))" } }
        let path = (["/v1"] + path.map(percentEncoded)).joined(separator: "/")
        return parameters.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
    }
}

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
