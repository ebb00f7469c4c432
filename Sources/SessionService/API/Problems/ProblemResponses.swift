import HTTPTypes
import Hummingbird
import Logging
import SessionOperations
import SessionStore

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
            var problem = ServiceProblem(error)
            context.health?.note(error, peer: context.peer)
            if problem.status == .internalServerError, !(error is SessionStoreError) {
                // The error itself may hold what was sent.
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

    /// The methods of RFC 9110 and RFC 5789. A path that is not asked for by one of these is asked for by others.
    private static let knownMethods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]

    private static func wrongMethod(_ methods: Set<HTTPRequest.Method>) -> ServiceProblem {
        let names = methods.map(\.rawValue).sorted().joined(separator: ", ")
        var problem = ServiceProblem(.methodNotAllowed, "this path is asked for by \(names)")
        problem.fields[.allow] = names
        return problem
    }
}
