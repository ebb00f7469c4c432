import Captures
import CookieModel
import Platform
import RequestDecoration
import SessionOperations
import SessionStore

/// A jar of a database file.
struct LocalJar: JarBackend {
    /// How many microseconds pass before the journal is asked again.
    private static let followingPause: UInt32 = 250_000

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

    // MARK: - Following and changing

    func followChanges(after position: Int64, _ body: @escaping (ChangeList) throws -> Void) throws -> Never {
        var position = position
        var jar = try existing(notesAccess: false)
        while true {
            if let page = try jar?.changes(after: position), !page.changes.isEmpty || page.hasGap {
                try body(ChangeList(page))
                position = page.position
            } else {
                usleep(LocalJar.followingPause)
                if jar == nil { jar = try existing(notesAccess: false) }
            }
        }
    }

    func receive(_ lines: [Octets], from request: RequestContext) throws -> [StorageDecisionReport] {
        let response = ReceivedResponse(context: request, setCookie: lines)
        return try options.target(now: now, console).receive(response, now: now).map { StorageDecisionReport($0) }
    }

    func importer(
        _ capture: CaptureImport, showsProgress: Bool, keyring: DesktopKeyring?
    ) throws -> (_ file: InputFile, _ isOwn: Bool) throws -> ImportReport {
        var importer = LocalImporter(
            target: try options.target(now: now, isDryRun: capture.isDryRun, console), options: capture,
            showsProgress: showsProgress, now: now)
        if let browserOptions {
            importer.database = try browserOptions.options(keyring: keyring)
            importer.container = browserOptions.containerNumber
        }
        return importer.importFile
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
}
