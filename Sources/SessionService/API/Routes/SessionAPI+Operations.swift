import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

/// The operations that the service and the command share.
extension SessionAPI {
    /// The most entries of a page of a list, and the default.
    private static let pageLimit: Int64 = 1000

    var operationRoutes: [ServiceRoute] {
        [
            route(.listJars), route(.createJar), route(.getJar), route(.putJar), route(.changeJar),
            route(.removeJar), route(.listSites), route(.listRemovedJars), route(.restoreJar), route(.clearJar),
            route(.pruneJar), route(.prune), route(.renameJar), route(.copyJar), route(.mergeJar),
            route(.listSnapshots), route(.saveSnapshot), route(.restoreSnapshot), route(.removeSnapshot),
            route(.endSession),
            route(.listHeaderFields), route(.setHeaderField), route(.removeHeaderField),
            route(.listLoginRules), route(.setLoginRule), route(.removeLoginRule),
            route(.listWebStorage), route(.removeWebStorage),
            route(.listCachedResponses), route(.showCachedResponses), route(.explainCache), route(.cacheStatistics),
            route(.purgeCache), route(.purgeAllCaches), route(.listSiteData), route(.removeSiteData),
            route(.listCookies, isTagged: true), route(.getCookie, isTagged: true), route(.removeCookies),
            route(.explain), route(.explainSetCookie), route(.listChanges), route(.script), route(.captureScript),
            route(.listTokens), route(.getToken), route(.removeToken),
            route(.accessToken), route(.idToken), route(.refreshToken), route(.revokeToken), route(.logOut),
        ]
    }

    /// The route of an operation.
    ///
    /// - Parameter isTagged: whether the answer has an entity tag, by which a caller asks whether it has changed.
    private func route<Document, Output: Encodable>(
        _ operation: DatabaseOperation<Document, Output>, isTagged: Bool = false
    ) -> ServiceRoute {
        ServiceRoute(operation.description) { request, context in
            let (output, isCreation) = try await output(of: operation, request, context)
            if isTagged { return TaggedAnswer.answer(output, to: request) }
            return .json(output, status: isCreation ? .created : .ok)
        }
    }

    /// The route of an operation with an empty answer.
    private func route<Document>(_ operation: DatabaseOperation<Document, Void>) -> ServiceRoute {
        ServiceRoute(operation.description) { request, context in
            _ = try await output(of: operation, request, context)
            return Response(status: .noContent)
        }
    }

    /// Does the work of an operation on a thread that may block, and records the secrets that the answer contains.
    private func output<Document, Output>(
        of operation: DatabaseOperation<Document, Output>, _ request: Request, _ context: ServiceRequestContext
    ) async throws -> (Output, isCreation: Bool) {
        let path = operation.description.path
        let document: Document = try await document(of: operation.description, request, context)
        let input = OperationInput(
            jar: path.contains("{jar}") ? try context.jarName : "",
            name: path.contains("{name}") ? try context.pathParameter("name") : "", query: context.query,
            document: document)
        let start = OperationContext(
            database: database, policy: policy, now: now(), grant: context.caller.grant,
            pageLimit: SessionAPI.pageLimit, environment: environment
        ) { verb, jar in
            if let jar { try context.require(verb, jar: jar) } else { try context.require(verb) }
        }
        let (output, end) = try await blocking {
            var end = start
            let output = try operation.work(input, &end)
            return (output, end)
        }
        for access in end.disclosed { context.audit(access) }
        return (output, end.isCreation)
    }

    /// The route of an operation on a login. Tokens belong to no jar: only callers with access to all jars may see them.
    private func route<Document, Output: Encodable>(_ operation: TokenOperation<Document, Output>) -> ServiceRoute {
        ServiceRoute(operation.description) { request, context in
            let document: Document = try await document(of: operation.description, request, context)
            let name = try context.pathParameter("name")
            var access = tokens.access
            access.writing = { try await blocking($0) }
            let output = try await operation.work(name, document, access)
            if let kind = operation.disclosed { context.audit(SecretAccess(kind, names: [name])) }
            return .json(output)
        }
    }

    /// The document in the body of a request.
    private func document<Document: RequestDocument>(
        of operation: OperationDescription, _ request: Request, _ context: ServiceRequestContext
    ) async throws -> Document {
        if let none = NoDocument() as? Document { return none }
        return operation.body == .optionalDocument
            ? try await request.optionalDocument(Document.self, in: context)
            : try await request.document(Document.self, in: context)
    }
}
