import Captures
import CookieModel
import Platform
import RequestDecoration
import SessionClient
import SessionOperations
import SessionStore

/// A jar of a running service.
struct RemoteJar: JarBackend {
    /// How many seconds pass before changes are followed again, after the connection has ended.
    private static let followingPause: UInt32 = 2
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

    func contents(for page: RequestURL) throws -> PageContents {
        guard let jar = try answer(.jar(name)) else { return PageContents(policy: CookiePolicy()) }
        let lists = try pages(next: \.next) { try answer(.cookies(of: name, showingValues: true, cursor: $0)) }
        let storage = try answer(.webStorage(of: name, origin: page.origin, showingValues: true))
        let items = storage?.items ?? []
        return PageContents(
            cookies: lists.flatMap(\.cookies).enumerated().compactMap { Cookie($1, sequence: $0) },
            storage: items.filter { $0.isDamaged != true }.compactMap {
                WebStorageItem(origin: $0.origin, key: $0.keyOctets, value: $0.valueOctets)
            },
            damage: lists.flatMap(\.unreadable).map(\.unreadableLine)
                + items.filter { $0.isDamaged == true }.map(\.unreadableLine),
            policy: CookiePolicy(profile: CookieProfile(name: jar.profile) ?? .rfc6265bis))
    }

    // MARK: - Following and changing

    func followChanges(after position: Int64, _ body: @escaping (ChangeList) throws -> Void) throws -> Never {
        let events = ChangeEvents(after: position, service, body)
        var failures = 0
        while true {
            let request = SessionRequest.events(of: name, after: events.position)
            do {
                try ifThere { try service.stream(request, consume: events.take) }
                failures = 0
            } catch let problem as CommandFailure where problem.failure == .serviceUnavailable && events.haveBegun {
                // A service that restarts is there again soon.
                failures = events.endStream() ? 1 : failures + 1
                guard failures <= RemoteJar.followingRetries else { throw problem }
            }
            _ = events.endStream()
            sleep(RemoteJar.followingPause)
        }
    }

    func curlJar(_ console: Console) -> (CurlPlan) throws -> any CurlJar {
        { try RemoteCurlJar(self, $0, console) }
    }

    func receive(_ lines: [Octets], from request: RequestContext) throws -> [StorageDecisionReport] {
        let document = SetCookieDocument(
            url: request.url.description, RequestDetails(request), setCookieBase64: lines.map(\.base64))
        return try store(.setCookies(document, in: name)).decisions
    }

    func importer(
        _ options: CaptureImport, showsProgress: Bool, keyring: DesktopKeyring?
    ) -> (_ file: InputFile, _ isOwn: Bool) throws -> ImportReport {
        RemoteImporter(options, showsProgress: showsProgress, into: self, of: service).importFile
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

extension DecorationReport {
    /// The fields whose stored value cannot be read back.
    var damagedFields: [HeaderFieldReport] {
        (omittedFields ?? []).filter { $0.reason == FieldOmissionReason.unreadable.identifier }.map {
            HeaderFieldReport(name: $0.name, scope: $0.scope, value: nil, isDamaged: true)
        }
    }
}

extension ServiceConnection {
    /// The answer to a request about a jar.
    ///
    /// - Throws: if it does not exist, an error that names those that may be meant.
    func answer<Answer: Decodable & Sendable>(
        about name: String, to request: SessionRequest<Answer>
    ) throws -> Answer {
        do {
            return try answer(to: request)
        } catch let error as SessionClientError where error.has(.jarNotFound) {
            throw noJar(named: name)
        }
    }

    /// The problem of a jar that the service does not have, with the names that may be meant.
    func noJar(named name: String) -> CommandFailure {
        .noJar(named: name, in: address.description, others: jarNames)
    }

    /// The jars of the service that may be meant by a name.
    func jarNames(similarTo name: String) -> [String] { CommandFailure.jarNames(similarTo: name, among: jarNames) }

    /// The names of the jars. Without them, a message is still right.
    private var jarNames: [String] { (try? answer(to: .jars()).jars.map(\.name)) ?? [] }
}
