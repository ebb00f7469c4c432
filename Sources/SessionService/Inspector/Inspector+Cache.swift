import CookieModel
import Hummingbird
import SessionOperations
import SessionStore
import SessionWire

/// The page of the cache of a jar: what it holds, and what happens with a request.
extension Inspector {
    /// How many stored responses a page has.
    private static let responseCount: Int64 = 500

    func cache(_ context: ServiceRequestContext) throws -> Response {
        let jar = try existingJar(.read, context)
        let start = try context.query.one("after")
        let list = try output(
            of: .listCachedResponses, jar, [("queries", "true")] + (start.map { [("cursor", $0)] } ?? []), context)
        let statistics = try output(of: .cacheStatistics, jar, [], context)
        let mayPurge = context.caller.grant.verbs.contains(.write) && !agentLock.isLocked
        let contents = CacheContents(jar, list, statistics, mayPurge: mayPurge)
        var question = AskedCache(url: try context.query.one("url") ?? "")
        guard !question.url.isEmpty else { return page(pages.cache(contents, question), for: context) }
        do {
            question.answer = try output(of: .explainCache, jar, [], context, ExplainCacheDocument(url: question.url))
        } catch let error as OperationError where error.failure == .urlInvalid {
            question.problem = error.description
        }
        return page(pages.cache(contents, question), for: context)
    }

    /// What to remove.
    struct PurgeForm: Decodable {
        /// A host of the site; empty for all responses of the jar.
        let site: String?
    }

    func purge(_ form: PurgeForm, _ context: ServiceRequestContext) throws -> Response {
        let jar = try existingJar(.write, context)
        try agentLock.check()
        let site = form.site.flatMap { $0.isEmpty ? nil : [("site", $0)] }
        _ = try output(of: .purgeCache, jar, site ?? [], context)
        return redirect(to: .cache(jar.name))
    }

    /// Does the work of an operation on a jar that the caller may use so.
    private func output<Output>(
        of operation: DatabaseOperation<NoDocument, Output>, _ jar: CookieJar, _ query: [(String, String)],
        _ context: ServiceRequestContext
    ) throws -> Output {
        try output(of: operation, jar, query, context, NoDocument())
    }

    private func output<Document, Output>(
        of operation: DatabaseOperation<Document, Output>, _ jar: CookieJar, _ query: [(String, String)],
        _ context: ServiceRequestContext, _ document: Document
    ) throws -> Output {
        var work = OperationContext(
            database: database, policy: CookiePolicy(), now: now(), grant: context.caller.grant,
            pageLimit: Inspector.responseCount, environment: environment
        ) { verb, jar in
            if let jar { try context.require(verb, jar: jar) } else { try context.require(verb) }
        }
        let query = QueryItems(query.map { (name: $0, value: $1) })
        return try operation.work(OperationInput(jar: jar.name, name: "", query: query, document: document), &work)
    }
}
