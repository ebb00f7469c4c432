import Foundation
import Hummingbird
import SessionStore

/// An answer that says what went wrong: problem details (RFC 9457) with a stable code.
struct ServiceProblem: HTTPResponseError, Equatable {
    let status: HTTPResponse.Status
    /// The stable code, as the command prints it for the same failure; docs/service.md lists them.
    let code: String
    /// One sentence that the caller can act on. Never holds a secret.
    let detail: String
    var fields: HTTPFields = [:]

    /// A problem.
    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    static func forbidden(_ verb: AccessVerb) -> ServiceProblem {
        ServiceProblem(.forbidden, "forbidden", "this access token is not for '\(verb.rawValue)' here")
    }

    static func jarNotFound(_ name: String) -> ServiceProblem {
        ServiceProblem(.notFound, "jar-not-found", "\(name): there is no jar of this name")
    }

    /// A problem of the store.
    init(_ error: SessionStoreError) {
        let status: HTTPResponse.Status =
            switch error.code {
            case .databaseBusy: .serviceUnavailable
            case .diskFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
            case .nameInvalid: .badRequest
            case .jarExists: .conflict
            case .jarNotFound, .sessionNotFound, .tokenNotFound: .notFound
            default: .internalServerError
            }
        self.init(status, error.code.rawValue, error.description)
        if status == .serviceUnavailable { fields[.retryAfter] = "1" }
    }

    /// The members of the document, as RFC 9457, section 3.1 names them, and the code.
    private struct Document: Encodable {
        let type: String
        let title: String
        let status: Int
        let detail: String
        let code: String
    }

    /// The whole answer.
    var message: (head: HTTPResponse, body: ByteBuffer) {
        let document = Document(
            type: "about:blank", title: status.reasonPhrase, status: status.code, detail: detail, code: code)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Text and a number: there is nothing in it that cannot be encoded.
        let body = (try? encoder.encode(document)).map { ByteBuffer(bytes: $0) } ?? ByteBuffer()
        var fields = fields
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        fields[.contentLength] = String(body.readableBytes)
        return (HTTPResponse(status: status, headerFields: fields), body)
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let (head, body) = message
        return Response(status: status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }
}
