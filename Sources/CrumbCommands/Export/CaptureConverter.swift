import BrowserCookies
import Captures
import CookieModel
import SessionOperations

/// Reads captures into a collection, and accounts for every line.
struct CaptureConverter {
    /// The options of the conversion.
    let options: CaptureImport
    /// How a browser's database is read.
    let database: BrowserDatabase.Options
    /// The container of Firefox, by the folder of a profile.
    let container: (_ folder: String) throws -> Int
    let now: Timestamp
    private let policy: CookiePolicy
    /// Whether a person sees how far it has come.
    let showsProgress: Bool
    private var requestCookies: RequestCookies
    /// The cookies so far.
    private(set) var collection: CookieCollection

    init(
        options: CaptureImport, database: BrowserDatabaseOptions, policy: CookiePolicy, now: Timestamp,
        showsProgress: Bool
    ) throws {
        self.options = options
        self.policy = policy
        self.database = try database.options()
        container = database.containerNumber
        self.now = now
        self.showsProgress = showsProgress
        requestCookies = RequestCookies(now: now)
        collection = CookieCollection(policy: policy)
    }

    /// Reads one file. Its readable parts count even if the file turns out to be broken.
    mutating func read(_ input: InputFile) throws -> ImportReport {
        if options.format?.isDatabase ?? true, let path = try? input.databasePath() {
            return try readDatabase(path, input)
        }
        var report = ImportReport(source: input.name)
        let container = try input.firefoxProfile.map(container) ?? 0
        var reader = CaptureReader(
            source: input.name, url: options.url, format: input.format ?? options.format, container: container)
        var progress = ImportProgress(name: input.name, total: input.byteCount, isShown: showsProgress)
        defer { progress.finish() }
        var byteCount = 0
        var place: CapturePlace?
        func stopWhereAsked() throws {
            if Interruption.isRequested {
                throw CommandFailure.stopped(after: byteCount, place, "what was read is written")
            }
        }
        do {
            try input.forEachChunk { chunk in
                try stopWhereAsked()
                reader.read(chunk.span) { item in
                    place = item.place
                    take(item, &report)
                }
                byteCount += chunk.count
                progress.show(bytes: byteCount, entries: report.responses, cookies: report.lines)
            }
            try stopWhereAsked()
            reader.finish { take($0, &report) }
        } catch let problem as CommandFailure {
            report.append(ImportReport.Failure(problem, source: input.name))
        }
        takeRequestCookies(&report)
        report.format = reader.format?.rawValue
        report.conclude()
        return report
    }

    private mutating func readDatabase(_ path: String, _ input: InputFile) throws -> ImportReport {
        var report = ImportReport(source: input.name)
        var database = database
        database.container = try container(InputFile.folder(of: path))
        do {
            report.format = try BrowserDatabase(path: path, source: input.name, options: database).read(
                as: options.format
            ) {
                take($0, &report)
            }.rawValue
        } catch let error as CaptureError {
            report.count(.failure(error))
        }
        report.conclude()
        return report
    }

    private mutating func take(_ item: CaptureItem, _ report: inout ImportReport) {
        report.count(item)
        switch item {
        case .failure: break
        case .storage(let item, _):
            collection.receive(item)
            report.count(item, hasRoom: true)
        case .cookie(let record, _) where WitnessName.matches(record.name): report.countWitness()
        case .cookie(let record, _):
            report.lines += 1
            if collection.receive(record) { report.replaced += 1 } else { report.taken += 1 }
        case .response(let response): take(response, &report)
        }
    }

    private mutating func take(_ response: CapturedResponse, _ report: inout ImportReport) {
        let wantsCookies = options.wantsCookies(of: response)
        guard wantsCookies || !response.setCookie.isEmpty,
            let received = response.received(options, policy: policy, now: now, &report)
        else { return }
        if wantsCookies { requestCookies.note(response, in: received.context) }
        guard !response.setCookie.isEmpty else { return }
        let decisions = collection.receive(received.response, at: received.time)
        if options.takesRequestCookies { requestCookies.note(decisions, of: response) }
        report.count(decisions, on: received, at: response.place)
    }

    /// Adds the cookies that the requests of a file sent, after everything that its responses set.
    private mutating func takeRequestCookies(_ report: inout ImportReport) {
        guard !requestCookies.isEmpty else { return }
        let present = collection.present
        for (_, cookies) in requestCookies.finish(policy: policy, &report) {
            for cookie in cookies where !present.hides(cookie, &report) {
                report.count(
                    requestCookie: collection.receive(requestCookie: cookie.record, now: now), at: cookie.place)
            }
        }
    }
}
