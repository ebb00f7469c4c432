import CookieModel
import OAuth2Login
import Platform
import SessionClient
import SessionOperations
import SessionStore

/// Where a command's operations are done: in a database file, or by a running service.
///
/// A command states a request. A service gets it as it is; for a file, the operation does the same work here. The rules
/// for a jar or a database that does not exist are the same in both cases.
final class OperationPlace {
    /// The service; `nil` for a database file.
    let service: ServiceConnection?
    /// The rules of a database file. A service has its own.
    let policy: CookiePolicy
    private let options: DatabaseOptions
    private let now: Timestamp
    private let notesAccess: Bool
    private var opened: SessionDatabase?

    /// - Parameter notesAccess: whether reading a cookie counts as using it.
    init(
        _ options: DatabaseOptions, _ service: ServiceConnection?, policy: CookiePolicy = CookiePolicy(),
        now: Timestamp, notesAccess: Bool = true
    ) {
        self.options = options
        self.service = service
        self.policy = policy
        self.now = now
        self.notesAccess = notesAccess
    }

    /// The database file; `nil` if nothing was ever stored in the default one, or if a service is asked.
    func database() throws -> SessionDatabase? {
        if service == nil, opened == nil { opened = try options.openExisting(now: now, notesAccess: notesAccess) }
        return opened
    }

    /// The problem of a jar that does not exist, with the names that may be meant; of a database that does not exist.
    func missing(_ jar: String) throws -> CommandFailure {
        if let service { return service.noJar(named: jar) }
        return try database().map { .noJar(named: jar, in: $0, now: now) } ?? .noDatabase(at: try options.path())
    }

    // MARK: - Doing what is asked for

    /// The answer to a request; `nil` if nothing was ever stored, so that there is no database.
    ///
    /// - Throws: the error of the store, of the operation or of the service, as it is.
    func answer<Document, Answer: Decodable>(
        to request: SessionRequest<Answer>, by operation: DatabaseOperation<Document, Answer>
    ) throws -> Answer? {
        try answer(to: request, by: operation) { try $0.answer(to: request) }
    }

    private func answer<Document, Answer>(
        to request: SessionRequest<Answer>, by operation: DatabaseOperation<Document, Answer>,
        sending: (ServiceConnection) throws -> Answer
    ) throws -> Answer? {
        let database = try database()
        guard service != nil || database != nil else { return nil }
        // An empty name is no segment of a path.
        if request.operation.isOfJar { try SessionStoreError.check(request.jar, of: "jar") }
        if let service { return try sending(service) }
        return try database.map { try operation.answer(to: request, in: $0, policy: policy, now: now) }
    }

    /// The answer to a request about jars that must exist.
    func perform<Document, Answer: Decodable>(
        _ request: SessionRequest<Answer>, by operation: DatabaseOperation<Document, Answer>
    ) throws -> Answer {
        do {
            if let answer = try answer(to: request, by: operation) { return answer }
        } catch {
            guard let jar = missingJar(error, of: request) else { throw error }
            throw try missing(jar)
        }
        throw try missing(request.jar)
    }

    /// The answer to a request about a jar that may be the default one: until something is stored there, it need not
    /// exist, and behaves as an empty jar.
    ///
    /// - Returns: `nil` if the jar is the default one and does not exist.
    func performIfThere<Document, Answer: Decodable>(
        _ request: SessionRequest<Answer>, by operation: DatabaseOperation<Document, Answer>
    ) throws -> Answer? {
        try ifThere(request) { try answer(to: request, by: operation) }
    }

    /// The same for a request whose answer is empty.
    func performIfThere<Document>(
        _ request: SessionRequest<Void>, by operation: DatabaseOperation<Document, Void>
    ) throws -> Void? {
        try ifThere(request) { try answer(to: request, by: operation) { try $0.send(request) } }
    }

    private func ifThere<Answer>(_ request: SessionRequest<Answer>, _ body: () throws -> Answer?) throws -> Answer? {
        do {
            if let answer = try body() { return answer }
        } catch {
            guard let jar = missingJar(error, of: request) else { throw error }
            guard jar == "default" else { throw try missing(jar) }
            return nil
        }
        guard request.jar == "default" else { throw try missing(request.jar) }
        return nil
    }

    /// The answer to a request about a jar that is created if it does not exist.
    ///
    /// - Parameter console: Where a jar that is created is named, so that a misspelled name does not go unnoticed.
    func performCreatingJar<Document, Answer: Decodable>(
        _ request: SessionRequest<Answer>, by operation: DatabaseOperation<Document, Answer>,
        _ console: Console? = nil
    ) throws -> Answer {
        try SessionStoreError.check(request.jar, of: "jar")
        if service == nil, opened == nil { opened = try options.openIfPresent(now: now, notesAccess: notesAccess) }
        if service != nil || opened != nil {
            do {
                if let answer = try answer(to: request, by: operation) { return answer }
            } catch {
                guard missingJar(error, of: request) != nil else { throw error }
            }
        }
        try createDatabase()
        if let service {
            _ = try service.answer(to: .putJar(request.jar))
        } else {
            _ = try opened?.jar(named: request.jar, policy: policy, now: now)
        }
        console?.noteCreation(ofJar: request.jar, similarTo: jarNames(similarTo: request.jar))
        return try perform(request, by: operation)
    }

    /// Creates the database file if it does not exist.
    func createDatabase() throws {
        if service == nil, opened == nil { opened = try options.open(now: now, notesAccess: notesAccess) }
    }

    /// The jar that an error says does not exist; `nil` for other errors.
    func missingJar<Answer>(_ error: any Error, of request: SessionRequest<Answer>) -> String? {
        switch error {
        case let error as SessionStoreError where error.code == .jarNotFound: return error.subject
        case let error as SessionClientError where error.has(.jarNotFound):
            let target = request.operation == .mergeJar ? (request.document as? JarTargetDocument)?.to : nil
            let isTarget = target.map { error.problem?.detail.hasPrefix("\($0): ") == true } ?? false
            return isTarget ? target : request.jar
        default: return nil
        }
    }

    // MARK: - Lists

    /// All jars, by name.
    func jars() throws -> [JarReport] {
        try pages(next: \.next) { try answer(to: .jars(cursor: $0), by: .listJars) }.flatMap(\.jars)
    }

    /// What can be restored, by name.
    func removedJars() throws -> [RemovedJarReport] {
        try answer(to: .removedJars(), by: .listRemovedJars)?.removed ?? []
    }

    /// The saved sessions of a jar.
    func savedSessions(of jar: String) throws -> [SavedSessionReport] {
        try performIfThere(.savedSessions(of: jar), by: .listSnapshots)?.snapshots ?? []
    }

    /// The logins, without their tokens.
    func tokens() throws -> StoredTokenList {
        try answer(to: .tokens(), by: .listTokens) ?? StoredTokenList()
    }

    /// The stored data of a login.
    func tokenStatus(of name: String) throws -> TokenStatusReport {
        guard var status = try answer(to: .token(name), by: .getToken) else {
            throw CommandFailure.noToken(named: name)
        }
        if service == nil {
            status.database = try options.path()
            status.key = try KeyLocation().name()
        }
        return status
    }

    private func jarNames(similarTo name: String) -> [String] {
        service?.jarNames(similarTo: name)
            ?? opened.map { CommandFailure.jarNames(similarTo: name, in: $0, now: now) } ?? []
    }

    /// The cookies of a jar that meet a condition, by site.
    func cookies(
        of jar: String, _ filter: CookieQuery = CookieQuery(), showingValues: Bool = false, origins: Bool = false
    ) throws -> CookieList {
        let pages = try pages(next: \.next) { cursor in
            try performIfThere(
                .cookies(
                    of: jar, filter, showingValues: showingValues, showingOrigins: origins, cursor: cursor),
                by: .listCookies)
        }
        return CookieList(cookies: pages.flatMap(\.cookies), unreadable: pages.flatMap(\.unreadable))
    }
}

/// Explaining. In a jar that does not exist, no cookie is sent and nothing is replaced.
extension OperationPlace {
    /// Explains, for each cookie of a request's site, whether it is sent.
    func explanation(of request: RequestContext, in jar: String) throws -> ExplanationReport {
        let document = ExplainDocument(
            url: request.url.description, RequestDetails(request), script: request.interface == .script,
            verdict: request.verdict.map { EngineVerdictDocument($0) })
        if let report = try performIfThere(.explain(document, in: jar), by: .explain) { return report }
        var explanation = Explanation(request, jar: jar, policy: policy, now: now)
        if let database = try database() { try explanation.addOtherJars(of: database, policy: policy) }
        return ExplanationReport(explanation)
    }

    /// Explains how the cache would answer a request.
    func cacheExplanation(of document: ExplainCacheDocument, in jar: String) throws -> CacheExplanationReport {
        try performIfThere(.explain(document, in: jar), by: .explainCache)
            ?? CacheExplanationReport(try CacheQuestion(document, now: now))
    }

    /// The outcome that Set-Cookie lines would have.
    func trial(of lines: [Octets], from request: RequestContext, in jar: String) throws -> SetCookieDryRunReport {
        let document = ExplainSetCookieDocument(
            url: request.url.description, RequestDetails(request), script: request.interface == .script,
            setCookieBase64: lines.map(\.base64))
        return try performIfThere(.explain(document, in: jar), by: .explainSetCookie)
            ?? SetCookieDryRunReport(
                SetCookieDryRun(lines, request, jar: jar, policy: policy, cookies: [], now: now))
    }
}

/// The pages of a list, up to the last one.
///
/// - Parameters:
///   - next: The cursor of the next page; `nil` on the last one.
///   - page: Returns the page at a cursor; `nil` if there is no list.
func pages<Page>(next: (Page) -> String?, _ page: (String?) throws -> Page?) rethrows -> [Page] {
    var pages: [Page] = []
    while let found = try page(pages.last.flatMap(next)) {
        pages.append(found)
        if next(found) == nil { break }
    }
    return pages
}

extension CommandFailure {
    /// Nothing was ever stored, so there is no login.
    static func noToken(named name: String) -> CommandFailure {
        CommandFailure(
            .tokenNotFound,
            "\(name): there is no token with this name; 'crumb token login' and 'crumb token import' store one")
    }
}

extension SessionRequest {
    /// The document of a request for an operation.
    func document<Document: RequestDocument>(of operation: OperationDescription) -> Document {
        guard self.operation == operation, let document = (document ?? NoDocument()) as? Document else {
            // A command pairs the two in its source, so no input leads here.
            preconditionFailure("'\(operation.id)' cannot answer a request for '\(self.operation.id)'")
        }
        return document
    }

    /// The jar in the path or in the query; empty if it has none.
    fileprivate var jar: String {
        operation.isOfJar
            ? operation.argument("jar", of: arguments) : parameters.first { $0.name == "jar" }?.value ?? ""
    }
}

extension DatabaseOperation {
    /// Does what a request asks for, without encoding it.
    fileprivate func answer(
        to request: SessionRequest<Output>, in database: SessionDatabase, policy: CookiePolicy, now: Timestamp
    ) throws -> Output {
        let document: Document = request.document(of: description)
        var context = OperationContext(ownerOf: database, policy: policy, now: now) {
            ProcessEnvironment.variables[$0]
        }
        return try work(
            OperationInput(
                jar: request.jar, name: description.argument("name", of: request.arguments),
                query: QueryItems(request.parameters), document: document), &context)
    }
}

extension Error {
    /// Whether it is a failure of the library, of an operation or of the service.
    func isFailure(_ failure: FailureKind) -> Bool {
        switch self {
        case let error as OperationError: error.failure == failure
        case let error as LoginError: FailureKind(error) == failure
        case let error as SessionClientError: error.has(failure)
        default: false
        }
    }
}
