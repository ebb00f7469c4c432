import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SessionOperations
import SessionStore

/// A response that reports a failure: problem details (RFC 9457) with a stable code.
struct ServiceFailure: HTTPResponseError, Equatable {
    var status: HTTPResponse.Status
    /// The stable code, as the command prints it for the same failure; docs/service.md lists them.
    let code: String
    /// One sentence that the caller can act on. Never holds a secret.
    let detail: String
    /// The page to log in on, if a site named one.
    var loginURL: String?
    var fields: HTTPFields = [:]

    /// A problem with the status that the table of failures gives it.
    init(_ failure: FailureKind, _ detail: String) {
        status = HTTPResponse.Status(failure)
        code = failure.code
        self.detail = detail
    }

    // MARK: - Who may

    static let unauthenticated = ServiceFailure(.unauthenticated, "send an access token")

    static func forbidden(_ verb: AccessVerb) -> ServiceFailure {
        ServiceFailure(.forbidden, "This requires an access token with '\(verb.rawValue)'.")
    }

    static let allJarsNeeded = ServiceFailure(.forbidden, "This requires an access token for all jars.")

    static func jarNotFound(_ name: String) -> ServiceFailure {
        ServiceFailure(.jarNotFound, "\(name): no such jar")
    }

    static func tokenNotFound(_ name: String) -> ServiceFailure {
        ServiceFailure(.tokenNotFound, "\(name): there is no token with this name")
    }

    // MARK: - Invalid requests

    static func parameterInvalid(_ name: String, _ detail: String) -> ServiceFailure {
        ServiceFailure(.parameterInvalid, "\(name): \(detail)")
    }

    static func bodyInvalid(_ detail: String) -> ServiceFailure {
        ServiceFailure(.bodyInvalid, detail)
    }

    /// The document.
    var document: ProblemReport {
        ProblemReport(title: status.reasonPhrase, status: status.code, detail: detail, code: code, loginURL: loginURL)
    }

    /// The complete response, for failures before there is a request.
    var message: (head: HTTPResponse, body: ByteBuffer) {
        let body = ByteBuffer(bytes: JSONText.of(document))
        var fields = fields
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        fields[.contentLength] = String(body.readableBytes)
        return (HTTPResponse(status: status, headerFields: fields), body)
    }

    /// The answer.
    var response: Response {
        let (head, body) = message
        return Response(status: status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

    func response(from request: Request, context: some RequestContext) -> Response { response }
}

extension HTTPResponse.Status {
    /// The status of a failure, with its reason phrase.
    fileprivate init(_ failure: FailureKind) {
        self =
            switch failure.httpStatus {
            case 400: .badRequest
            case 401: .unauthorized
            case 403: .forbidden
            case 404: .notFound
            case 405: .methodNotAllowed
            case 408: .requestTimeout
            case 409: .conflict
            case 413: .contentTooLarge
            case 415: .unsupportedMediaType
            case 421: .misdirectedRequest
            case 422: .unprocessableContent
            case 423: HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
            case 429: .tooManyRequests
            case 431: .requestHeaderFieldsTooLarge
            case 501: .notImplemented
            case 502: .badGateway
            case 503: .serviceUnavailable
            case 507: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
            default: .internalServerError
            }
    }
}

/// Answers every error as a problem, and a path that is asked for by the wrong method with those that it knows.
///
/// Stands before everything else that can throw.
struct ProblemResponses: RouterMiddleware {
    let routes: RouteTable

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error where error.saysClientIsGone {
            throw error
        } catch {
            var problem = ServiceFailure(error)
            context.health?.note(error, peer: context.peer)
            if problem.status == .internalServerError, !(error is SessionStoreError) {
                // The error itself may contain data of the request.
                context.logger.error(
                    "a request failed", metadata: ["code": "\(problem.code)", "error": "\(type(of: error))"])
            }
            if problem.code == "not-found" {
                let methods = routes.methods(of: request.uri.path)
                if !ProblemResponses.knownMethods.contains(request.method) {
                    problem = .methodUnknown
                } else if !methods.isEmpty {
                    problem = ProblemResponses.wrongMethod(methods)
                }
            }
            return problem.response
        }
    }

    /// The standard methods (RFC 9110 and RFC 5789). Any other gets `method-unknown`.
    private static let knownMethods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]

    private static func wrongMethod(_ methods: Set<HTTPRequest.Method>) -> ServiceFailure {
        let names = methods.map(\.rawValue).sorted().joined(separator: ", ")
        var problem = ServiceFailure(.methodNotAllowed, "this path supports \(names)")
        problem.fields[.allow] = names
        return problem
    }
}
