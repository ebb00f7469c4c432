import Foundation
import NetworkHelper
import OAuth2
import SessionClient
import SessionOperations
import SessionStore

/// Asks a running service, through the program that speaks HTTP.
struct ServiceConnection {
    /// More than any problem has to say.
    private static let problemLimit = 1 << 20

    let address: SessionAddress
    /// The most bytes of a file with certificates.
    private static let certificateLimit = 512 << 10

    private let token: ServiceTokenFile?
    /// Certificates in PEM that are trusted besides the system's.
    private let authorities: String?

    init(address: SessionAddress, token: ServiceTokenFile?, authorities: String? = nil) {
        self.address = address
        self.token = token
        self.authorities = authorities
    }

    /// The certificates in a file, in PEM.
    static func certificates(in path: String) throws -> String {
        let text = String(decoding: try InputFile(path).contents(limit: certificateLimit), as: UTF8.self)
        guard text.contains("-----BEGIN CERTIFICATE-----") else {
            throw Problem(
                .inputUnrecognized, "\(path): this file contains no certificate in PEM; name another --service-ca")
        }
        return text
    }

    /// The answer to a request, in JSON.
    ///
    /// - Throws: `SessionClientError` if the service answers with a problem.
    func answer<Answer: Decodable>(to request: SessionRequest<Answer>) throws -> Answer {
        let gathered = Gathered()
        try send(request) { gathered.bytes += $0 }
        return try decoded(gathered.bytes)
    }

    /// A document of an answer.
    func decoded<Answer: Decodable>(_ bytes: [UInt8], as type: Answer.Type = Answer.self) throws -> Answer {
        try SessionRequest<Answer>.decode(bytes, from: address)
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - upload: gives the next bytes of the body, `nil` at its end; `nil` for the request's own body.
    ///   - consume: is given the body of an answer that is no problem, as it comes.
    func send<Answer>(
        _ request: SessionRequest<Answer>, upload: (() throws -> [UInt8]?)? = nil,
        consume: @escaping ([UInt8]) throws -> Void
    ) throws {
        let gathered = Gathered()
        gathered.rest = try request.encodedBody()
        let body: ServiceCall.Body =
            upload != nil ? .streamed : gathered.rest.map { .whole(byteCount: $0.count) } ?? .none
        let type = upload == nil ? gathered.rest.map { _ in "application/json" } : "application/octet-stream"
        let call = ServiceCall(
            HelperRequest(
                method: request.method, url: address.base + request.target,
                fields: fields(accept: request.accept, type: type)),
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
        throw SessionClientError(problem: gathered.bytes, from: address)
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

/// The access token by which a service knows who asks, out of a file that its owner alone can read.
struct ServiceTokenFile {
    /// More than any access token has.
    private static let sizeLimit = 4096

    private let secret: Secret

    /// Reads the token.
    init(_ path: String) throws {
        var bytes = try InputFile(path).contents(limit: ServiceTokenFile.sizeLimit)
        // A pipe has no modes that matter.
        guard PrivateFile.isPrivate(path) || PrivateFile.isSpecial(path) else {
            throw Problem(.keyExposed, "\(path): other users can read the access token; run: chmod 600 '\(path)'")
        }
        while let last = bytes.last, InputFile.isWhiteSpace(last) { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem(.tokenInputInvalid, "\(path): this file contains no access token")
        }
        secret = Secret(bytes)
    }

    /// The value of the Authorization field (RFC 6750, section 2.1), which is no longer protected.
    var exposedField: String { "Bearer \(secret.exposedText ?? "")" }
}

extension SessionClientError {
    /// Whether the service answered with the problem of a failure.
    func has(_ failure: FailureKind) -> Bool { problem?.code == failure.code }
}

extension Problem {
    /// A service's problem as the command says it: what fails in the same way on a file has the same sentence and status.
    init(_ error: SessionClientError) {
        guard let problem = error.problem else {
            switch error.code {
            case .addressInvalid: self.init(.urlInvalid, error.description)
            case .incompatible: self.init(.serviceIncompatible, error.description)
            case .unreachable, .refused: self.init(.serviceUnavailable, error.description)
            }
            return
        }
        let place = error.address.map { "\($0): " } ?? ""
        if problem.code == FailureKind.tokenMissing.code {
            self.init(
                .serviceRefused,
                "\(place)the service requires an access token; name its file with --service-token-file or "
                    + "CRUMB_SERVICE_TOKEN_FILE")
            return
        }
        // A failure of the service itself is none of the command's.
        let known = FailureKind(rawValue: problem.code)
        let failure = known == .internalError ? .serviceUnavailable : known ?? .serviceUnavailable
        switch failure.exitStatus {
        case FailureKind.serviceRefused.exitStatus: self.init(.serviceRefused, error.description)
        case FailureKind.serviceUnavailable.exitStatus: self.init(.serviceUnavailable, error.description)
        case FailureKind.serviceIncompatible.exitStatus:
            self.init(
                .serviceIncompatible, "\(place)the service has another version of crumb: \(problem.detail)")
        default: self.init(advising: failure, problem.detail)
        }
    }
}
