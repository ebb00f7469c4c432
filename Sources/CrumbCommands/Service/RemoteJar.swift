import Captures
import CookieModel
import Foundation
import RequestDecoration
import SessionClient
import SessionOperations
import SessionStore

/// A jar of a running service.
struct RemoteJar: JarBackend {
    /// How many cookies a page of a list has.
    private static let pageLimit = 1000
    /// How many seconds pass before changes are followed again, after the connection has ended.
    private static let followingPause = 2.0
    /// How many times in a row that may fail.
    private static let followingRetries = 30

    let name: String
    let service: ServiceConnection
    let now: Timestamp
    /// Where a jar that is created is named.
    private let console: Console?

    /// A jar of that name, which need not be there.
    ///
    /// - Throws: An error if no jar can have the name.
    init(
        named name: String, of service: ServiceConnection, now: Timestamp, console: Console? = nil
    ) throws(SessionStoreError) {
        try SessionStoreError.check(name, of: "jar")
        self.name = name
        self.service = service
        self.now = now
        self.console = console
    }

    /// The answer to a question about the jar; `nil` if it is the default one and is not there yet.
    func answer<Answer: Decodable & Sendable>(_ request: SessionRequest<Answer>) throws -> Answer? {
        try ifThere { try service.answer(to: request) }
    }

    /// Returns the result of `body`; `nil` if the jar is the default one and does not exist yet.
    func ifThere<Answer>(_ body: () throws -> Answer) throws -> Answer? {
        if let answer = try ifCreated(body) { return answer }
        guard name != "default" else { return nil }
        throw service.noJar(named: name)
    }

    /// Returns the result of `body`; `nil` if the jar does not exist.
    func ifCreated<Answer>(_ body: () throws -> Answer) throws -> Answer? {
        do {
            return try body()
        } catch let error as SessionClientError where error.has(.jarNotFound) {
            return nil
        }
    }

    /// Stores the cookies of a response; the first one that is stored creates the jar.
    func store(_ request: SessionRequest<ResponseDecisions>) throws -> ResponseDecisions {
        if let answer = try ifCreated({ try service.answer(to: request) }) { return answer }
        let isNew = try makeIfMissing()
        let answer = try service.answer(to: request)
        let isStored = answer.decisions.contains { $0.outcome == StorageDecision.Outcome.stored.rawValue }
        if isNew { if isStored { noteCreation() } else { try removeUnused() } }
        return answer
    }

    /// The answer to a request that needs the jar, which is made where it is missing.
    func answerMakingJar<Answer: Decodable & Sendable>(_ request: SessionRequest<Answer>) throws -> Answer {
        do {
            return try service.answer(to: request)
        } catch let error as SessionClientError where error.has(.jarNotFound) {
            try make()
            noteCreation()
            return try service.answer(to: request)
        }
    }

    /// Names a jar that was created, so that a misspelled one does not go unnoticed.
    func noteCreation() {
        console?.noteCreation(ofJar: name, similarTo: service.jarNames(similarTo: name))
    }

    /// Removes a jar that was created for cookies of which none was stored.
    func removeUnused() throws {
        _ = try service.answer(to: .removeJar(name, isFinal: true))
    }

    /// Creates the jar if it does not exist.
    ///
    /// - Returns: whether it did not.
    func makeIfMissing() throws -> Bool {
        do {
            _ = try service.answer(to: .jar(name))
            return false
        } catch let error as SessionClientError where error.has(.jarNotFound) {
            try make()
            return true
        }
    }

    /// Makes the jar, unless someone else does at the same time.
    private func make() throws {
        _ = try service.answer(to: .putJar(name))
    }

    // MARK: - For requests and pages

    func header(for request: RequestContext, withFields: Bool) throws -> HeaderReport {
        let document = DecorateDocument(url: request.url.description, RequestDetails(request))
        let answer = try answer(.decorate(document, in: name))
        var report = HeaderReport(
            url: request.url.description, cookieString: answer?.cookieString ?? [], names: answer?.included ?? [],
            unreadable: answer?.excluded.compactMap(\.cookie) ?? [])
        if withFields {
            report.add((answer?.fields ?? []).filter { $0.name != "cookie" }, damaged: answer?.damagedFields ?? [])
        }
        return report
    }

    func script(
        for pages: [RequestContext], writing: InjectionScript.Writing, verification: InjectionScript.Verification
    ) throws -> ScriptReport {
        var handler: String?
        if case .message(let name) = verification { handler = name.description }
        let document = ScriptDocument(
            urls: pages.map(\.url.description), pages.first.map { RequestDetails($0) } ?? RequestDetails(),
            write: writing.rawValue, verify: verification == .value ? true : nil, handler: handler)
        return try answer(.script(document, of: name))
            ?? ScriptReport(pages.map(\.url), InjectionScript([], writing: writing, verification: verification))
    }

    func contents(for page: RequestURL) throws -> PageContents {
        guard let jar = try answer(.jar(name)) else { return PageContents(policy: CookiePolicy()) }
        let list = try cookies(of: nil, showingValues: true, origins: false)
        let items = try webStorage(ofOrigin: page.origin, showingValues: true).items ?? []
        return PageContents(
            cookies: list.cookies.enumerated().compactMap { Cookie($1, sequence: $0) },
            storage: items.filter { $0.isDamaged != true }.compactMap {
                WebStorageItem(origin: $0.origin, key: $0.keyOctets, value: $0.valueOctets)
            },
            damage: list.unreadable.map(\.unreadableLine)
                + items.filter { $0.isDamaged == true }.map(\.unreadableLine),
            policy: CookiePolicy(profile: CookieProfile(name: jar.profile) ?? .rfc6265bis))
    }

    // MARK: - Looking

    func explanation(of request: RequestContext) throws -> ExplanationReport {
        let document = ExplainDocument(
            url: request.url.description, RequestDetails(request), script: request.interface == .script,
            verdict: request.verdict.map { EngineVerdictDocument($0) })
        return try answer(.explain(document, in: name))
            ?? ExplanationReport(Explanation(request, jar: name, policy: CookiePolicy(), now: now))
    }

    func trial(of lines: [Octets], from request: RequestContext) throws -> SetCookieDryRunReport {
        let document = ExplainSetCookieDocument(
            url: request.url.description, RequestDetails(request), script: request.interface == .script,
            setCookieBase64: lines.map(\.base64))
        return try answer(.explain(document, in: name))
            ?? SetCookieDryRunReport(
                SetCookieDryRun(lines, request, jar: name, policy: CookiePolicy(), cookies: [], now: now))
    }

    func cookies(of domain: WebHost?, showingValues: Bool, origins: Bool) throws -> CookieList {
        var cookies: [CookieReport] = []
        var unreadable: [CookieIdentityReport] = []
        var cursor: String?
        repeat {
            guard
                let page = try answer(
                    .cookies(
                        of: name, CookieQuery(domain: domain?.description), showingValues: showingValues,
                        showingOrigins: origins, limit: RemoteJar.pageLimit, cursor: cursor))
            else { break }
            cookies += page.cookies
            unreadable += page.unreadable
            cursor = page.next
        } while cursor != nil
        return CookieList(cookies: cookies, unreadable: unreadable)
    }

    func cookie(named name: String, for request: RequestContext) throws -> CookieFinding {
        guard !name.isEmpty else {
            throw Problem(
                .nameInvalid, "a service does not return cookies without a name; 'crumb list --values' shows them")
        }
        do {
            guard
                let cookie = try answer(
                    .cookie(
                        name, for: request.url.description, RequestDetails(request), in: self.name, showingValue: true))
            else { return .notSent(nil) }
            return .found(cookie)
        } catch let error as SessionClientError where error.has(.cookieNotFound) || error.has(.valueDamaged) {
            let explanation = try explanation(of: request)
            let damaged = explanation.excluded.first { exclusion in
                exclusion.cookie.nameOctets == Octets(name)
                    && exclusion.reasons.contains { $0.id == ExclusionReason.unreadable.identifier }
            }
            return damaged.map { .unreadable(CookieIdentityReport($0.cookie)) } ?? .notSent(explanation)
        }
    }

    func changes(after position: Int64) throws -> ChangeList? {
        try answer(.changes(of: name, after: position))
    }

    func followChanges(after position: Int64, _ body: @escaping (ChangeList) throws -> Void) throws -> Never {
        let events = ChangeEvents(after: position, service, body)
        var failures = 0
        while true {
            let request = SessionRequest.events(of: name, after: events.position)
            do {
                try ifThere { try service.stream(request, consume: events.take) }
                failures = 0
            } catch let problem as Problem where problem.failure == .serviceUnavailable && events.haveBegun {
                // A service that restarts is there again soon.
                failures = events.endStream() ? 1 : failures + 1
                guard failures <= RemoteJar.followingRetries else { throw problem }
            }
            _ = events.endStream()
            Thread.sleep(forTimeInterval: RemoteJar.followingPause)
        }
    }

    func curlJar(_ console: Console) -> (CurlPlan) throws -> any CurlJar {
        { try RemoteCurlJar(self, $0, console) }
    }

    // MARK: - Changing

    func receive(_ lines: [Octets], from request: RequestContext) throws -> [StorageDecisionReport] {
        let document = SetCookieDocument(
            url: request.url.description, RequestDetails(request), setCookieBase64: lines.map(\.base64))
        return try store(.setCookies(document, in: name)).decisions
    }

    func removeCookies(_ filter: CookieFilter) throws -> [CookieIdentityReport] {
        let query = CookieQuery(
            name: filter.name?.utf8String, domain: filter.domain?.description, path: filter.path?.utf8String,
            url: filter.request?.url.description)
        do {
            return try answer(.removeCookies(query, of: name))?.removed ?? []
        } catch let error as SessionClientError where error.has(.cookieNotFound) {
            return []
        }
    }

    func importer(_ order: ImportOrder) throws -> any CaptureImporting {
        RemoteCaptures(order, into: self, of: service)
    }

    // MARK: - Sessions

    func savedSessions() throws -> [SavedSessionReport] {
        try answer(.savedSessions(of: name))?.snapshots ?? []
    }

    func saveSession(named session: String) throws -> SessionSaveReport {
        try answerMakingJar(.saveSession(session, of: name))
    }

    func restoreSession(named session: String) throws -> SessionRestorationReport {
        guard
            let restoration: SessionRestorationReport = try answer(.restoreSession(session, of: name))
        else { throw Problem.nothingSaved(as: session) }
        return restoration
    }

    func removeSavedSession(named session: String) throws -> SavedSessionReport {
        guard let removed: SavedSessionReport = try answer(.removeSavedSession(session, of: name))
        else { throw Problem.nothingSaved(as: session) }
        return removed
    }

    func endSession() throws -> SessionEndReport {
        try answer(.endSession(of: name)) ?? SessionEndReport(jar: name, removed: 0, kept: 0)
    }
}

extension Cookie {
    /// The cookie of a report with its value; `nil` if the service is of another version.
    fileprivate init?(_ report: CookieReport, sequence: Int) {
        guard let domain = WebHost(report.domain), let creation = Timestamp(rfc3339: report.created.utf8),
            let sameSite = SameSite.allCases.first(where: { $0.attributeValue == report.sameSite })
        else { return nil }
        self.init(
            id: ID(
                name: report.nameOctets, domain: domain, isHostOnly: report.hostOnly, path: Octets(report.path),
                partitionKey: report.partitionKey.flatMap(PartitionKey.init(serialized:))),
            value: report.valueOctets, isSecure: report.secure, isHTTPOnly: report.httpOnly, sameSite: sameSite,
            expiry: report.expires.flatMap { Timestamp(rfc3339: $0.utf8) }, creation: creation, lastAccess: creation,
            sequence: Int64(sequence))
    }
}

extension DecorationAnswer {
    /// The fields whose stored value cannot be read back.
    var damagedFields: [HeaderFieldReport] {
        (omittedFields ?? []).filter { $0.reason == FieldOmissionReason.unreadable.identifier }.map {
            HeaderFieldReport(name: $0.name, scope: $0.scope, value: nil, isDamaged: true)
        }
    }
}
