import Captures
import CookieModel
import Foundation
import RequestDecoration
import SessionOperations
import SessionStore

/// A jar of a database file.
struct LocalJar: JarBackend {
    /// How many seconds pass before the journal is asked again.
    private static let followingPause = 0.25

    private let options: JarOptions
    private let now: Timestamp
    private let browserOptions: BrowserDatabaseOptions?
    /// Where a jar that is created is named.
    private let console: Console?

    init(
        _ options: JarOptions, browserOptions: BrowserDatabaseOptions? = nil, now: Timestamp, console: Console? = nil
    ) {
        self.options = options
        self.browserOptions = browserOptions
        self.now = now
        self.console = console
    }

    private func existing(notesAccess: Bool = true) throws -> CookieJar? {
        try options.openExistingJar(now: now, notesAccess: notesAccess)
    }

    // MARK: - For requests and pages

    func header(for request: RequestContext, withFields: Bool) throws -> HeaderReport {
        let decoration = try existing()?.decoration(for: request, withFields: withFields, now: now)
        return HeaderReport(url: request.url.description, decoration, withFields: withFields)
    }

    func script(
        for pages: [RequestContext], writing: InjectionScript.Writing, verification: InjectionScript.Verification
    ) throws -> ScriptReport {
        guard let found = try existing() else {
            return ScriptReport(pages.map(\.url), InjectionScript([], writing: writing, verification: verification))
        }
        return try ScriptReport(of: found, for: pages, writing: writing, verification: verification, now: now)
    }

    func contents(for page: RequestURL) throws -> PageContents {
        guard let existing = try existing() else { return PageContents(policy: try options.policy()) }
        let (cookies, unreadable) = try existing.cookies()
        let storage = try existing.webStorage(of: [page])
        return PageContents(
            cookies: cookies, storage: storage.readable,
            damage: unreadable.map { CookieIdentityReport($0).unreadableLine }
                + storage.unreadable.map { WebStorageList.Item(damaged: $0).unreadableLine }, policy: existing.policy)
    }

    func curlJar(_ console: Console) throws -> (CurlPlan) throws -> any CurlJar {
        let target = try options.target(now: now, self.console)
        if target.jar == nil { console.noteMissingJar(target.name, similarTo: target.similarJars) }
        // The rules may get a token from a server.
        if try target.jar?.loginRules().isEmpty == false { _ = try Network.required() }
        return { try LocalCurlJar(target, $0, console) }
    }

    // MARK: - Looking

    func explanation(of request: RequestContext) throws -> ExplanationReport {
        let policy = try options.policy()
        let database = try options.openExistingDatabase(now: now, notesAccess: false)
        let existing = try database.flatMap { try options.existingJar(in: $0, policy: policy, now: now) }
        var explanation = Explanation(request, jar: options.jar, policy: existing?.policy ?? policy, now: now)
        if let existing { try explanation.add(existing) }
        if let database { try explanation.addOtherJars(of: database, policy: policy) }
        return ExplanationReport(explanation)
    }

    func trial(of lines: [Octets], from request: RequestContext) throws -> SetCookieDryRunReport {
        let policy = try options.policy()
        let database = try options.openExistingDatabase(now: now, notesAccess: false)
        let existing = try database.flatMap { try options.existingJar(in: $0, policy: policy, now: now) }
        let stored = try existing?.cookies()
        return SetCookieDryRunReport(
            SetCookieDryRun(
                lines, request, jar: options.jar, policy: existing?.policy ?? policy,
                cookies: (stored?.readable ?? []) + (stored?.unreadable ?? []), now: now))
    }

    func cookies(of domain: WebHost?, showingValues: Bool, origins: Bool) throws -> CookieList {
        guard let existing = try existing() else { return CookieList() }
        func isMeant(_ cookie: Cookie) -> Bool {
            !cookie.isExpired(at: now) && domain.map { CookiePolicy.domainMatches(cookie.domain, $0.octets) } ?? true
        }
        let (readable, unreadable) = try existing.cookies()
        let origins = origins ? try existing.origins() : [:]
        return CookieList(
            cookies: readable.filter(isMeant).map {
                CookieReport($0, showingValue: showingValues, origin: origins[$0.id])
            },
            unreadable: unreadable.filter(isMeant).map { CookieIdentityReport($0) })
    }

    func cookie(named name: String, for request: RequestContext) throws -> CookieFinding {
        guard let existing = try existing() else { return .notSent(nil) }
        let retrieval = try existing.retrieve(for: request, now: now)
        if let cookie = retrieval.included.first(where: { $0.name == Octets(name) }) {
            return .found(CookieReport(cookie, showingValue: true, origin: try existing.origin(of: cookie.id)))
        }
        let excluded = retrieval.excluded.filter { $0.cookie.name == Octets(name) }
        if let damaged = excluded.first(where: { $0.reasons.contains(.unreadable) }) {
            return .unreadable(CookieIdentityReport(damaged.cookie))
        }
        var explanation = Explanation(request, jar: options.jar, policy: existing.policy, now: now)
        try explanation.add(existing)
        return .notSent(ExplanationReport(explanation))
    }

    func changes(after position: Int64) throws -> ChangeList? {
        try existing().map { ChangeList(try $0.changes(after: position)) }
    }

    func followChanges(after position: Int64, _ body: @escaping (ChangeList) throws -> Void) throws -> Never {
        var position = position
        var jar = try existing(notesAccess: false)
        while true {
            if let page = try jar?.changes(after: position), !page.changes.isEmpty || page.hasGap {
                try body(ChangeList(page))
                position = page.position
            } else {
                Thread.sleep(forTimeInterval: LocalJar.followingPause)
                if jar == nil { jar = try existing(notesAccess: false) }
            }
        }
    }

    // MARK: - Changing

    func receive(_ lines: [Octets], from request: RequestContext) throws -> [StorageDecisionReport] {
        let response = ReceivedResponse(context: request, setCookie: lines)
        return try options.target(now: now, console).receive(response, now: now).map { StorageDecisionReport($0) }
    }

    func removeCookies(_ filter: CookieFilter) throws -> [CookieIdentityReport] {
        try existing()?.removeCookies(filter, now: now).map { CookieIdentityReport($0) } ?? []
    }

    func importer(_ order: ImportOrder) throws -> any CaptureImporting {
        var importer = CaptureImporter(
            target: try options.target(now: now, isDryRun: order.options.isDryRun, console), options: order.options,
            again: order.again, now: now)
        if let browserOptions {
            importer.database = try browserOptions.options(keyring: order.keyring)
            importer.container = browserOptions.containerNumber
        }
        importer.showsProgress = order.showsProgress
        return importer
    }

    func export(_ order: ExportOrder, to destination: () throws -> ExportDestination) throws -> ExportReport {
        let existing = try existing(notesAccess: false)
        var exporter = FileExporter(order.format, to: try destination(), host: order.request?.url.host, now: now)
        if let existing {
            var cookies = try ExportedCookies(of: existing, for: order.request, order.format.scope, now: now)
            while let part = try cookies.next() {
                try part.forEach(admittedBy: order.selection) {
                    try exporter.write($0)
                } leaveOut: {
                    exporter.leaveOut(unreadable: $0)
                }
            }
            while let part = try cookies.nextStorage(admittedBy: order.selection, for: order.format) {
                try exporter.write(part)
            }
        }
        return try exporter.finish()
    }

    // MARK: - Header fields

    func headerFields(showingValues: Bool) throws -> [HeaderFieldReport] {
        try existing(notesAccess: false)?.cachedHeaderFields().map {
            HeaderFieldReport($0, showingValue: showingValues)
        } ?? []
    }

    func setHeaderField(_ rule: FieldRule) throws -> HeaderFieldReport {
        try options.openJar(now: now, console).setFieldRule(rule)
        return HeaderFieldReport(rule)
    }

    func removeHeaderField(named name: String, scope: URLScope?) throws -> HeaderFieldReport? {
        guard try existing()?.removeFieldRule(named: name, scope: scope) == true else { return nil }
        return HeaderFieldReport(name: name, scope: scope?.description, value: nil)
    }

    // MARK: - Web storage

    func loginRules() throws -> [LoginRuleReport] {
        try existing()?.loginRules().map { LoginRuleReport(name: $0.name, rule: $0.rule) } ?? []
    }

    func setLoginRule(_ rule: LoginRule, named name: String) throws -> LoginRuleReport {
        let jar = try options.openJar(now: now, console)
        _ = try jar.tokens.get(rule.profile)
        try jar.setLoginRule(rule, named: name)
        return LoginRuleReport(name: name, rule: rule)
    }

    func removeLoginRule(named name: String) throws -> Bool {
        try existing()?.removeLoginRule(named: name) == true
    }

    func webStorage(ofOrigin origin: String?, showingValues: Bool) throws -> WebStorageList {
        try existing(notesAccess: false).map {
            try WebStorageList($0, ofOrigin: origin, showingValues: showingValues)
        } ?? WebStorageList(origins: [])
    }

    func removeWebStorage(ofOrigin origin: String?, key: String?) throws -> WebStorageRemoval {
        WebStorageRemoval(
            jar: options.jar,
            removed: try existing()?.removeWebStorage(ofOrigin: origin, key: key.map { Octets($0) }) ?? 0)
    }

    // MARK: - Sessions

    func savedSessions() throws -> [SavedSessionReport] {
        try existing()?.savedSessions().map(SavedSessionReport.init) ?? []
    }

    func saveSession(named name: String) throws -> SessionSaveReport {
        let jar = try options.openExistingOrDefaultJar(now: now, console)
        return SessionSaveReport(jar: jar.name, try jar.saveSession(named: name, now: now))
    }

    func restoreSession(named name: String) throws -> SessionRestorationReport {
        guard let jar = try existing() else { throw Problem.nothingSaved(as: name) }
        return SessionRestorationReport(jar: jar.name, try jar.restoreSession(named: name, now: now))
    }

    func removeSavedSession(named name: String) throws -> SavedSessionReport {
        guard let jar = try existing() else { throw Problem.nothingSaved(as: name) }
        return SavedSessionReport(try jar.removeSavedSession(named: name))
    }

    func endSession() throws -> SessionEndReport {
        let end = try existing()?.endSession(now: now)
        return SessionEndReport(jar: options.jar, removed: end?.removed ?? 0, kept: end?.kept ?? 0)
    }
}
