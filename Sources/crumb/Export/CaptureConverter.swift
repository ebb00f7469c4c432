import BrowserCookies
import Captures
import CookieModel
import SessionOperations

/// Reads captures into a collection, and accounts for every line.
struct CaptureConverter {
    /// The format of the captures; `nil` to tell each by its content.
    let format: CaptureFormat?
    /// The URL of a raw dump's first response.
    let url: String?
    /// Whether lifetimes count from now instead of from when the capture was made.
    let receivedNow: Bool
    /// How a browser's database is read.
    let database: BrowserDatabase.Options
    let now: Timestamp
    /// Whether a person sees how far it has come.
    let showsProgress: Bool
    /// The cookies so far.
    private(set) var collection: CookieCollection

    init(
        format: CaptureFormat?, url: String?, receivedNow: Bool, database: BrowserDatabase.Options,
        policy: CookiePolicy, now: Timestamp, showsProgress: Bool
    ) {
        self.format = format
        self.url = url
        self.receivedNow = receivedNow
        self.database = database
        self.now = now
        self.showsProgress = showsProgress
        collection = CookieCollection(policy: policy)
    }

    /// Reads one file. What could be read is there even where the file turns out to be broken.
    mutating func read(_ input: InputFile) throws -> ImportReport {
        if format?.isDatabase ?? true, let path = try? input.databasePath() { return try readDatabase(path, input) }
        var report = ImportReport(source: input.name)
        var reader = CaptureReader(source: input.name, url: url, format: format)
        var progress = ImportProgress(name: input.name, total: input.byteCount, isShown: showsProgress)
        defer { progress.finish() }
        var byteCount = 0
        var place: CapturePlace?
        func stopWhereAsked() throws {
            if Interruption.isRequested { throw Problem.stopped(after: byteCount, place, "what was read is written") }
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
        } catch let problem as Problem {
            report.failures.append(ImportReport.Failure(problem, source: input.name))
        }
        report.format = reader.format?.rawValue
        return report
    }

    private mutating func readDatabase(_ path: String, _ input: InputFile) throws -> ImportReport {
        var report = ImportReport(source: input.name)
        do {
            report.format = try BrowserDatabase(path: path, source: input.name, options: database).read(as: format) {
                take($0, &report)
            }.rawValue
        } catch let error as CaptureError {
            report.count(.failure(error))
        }
        return report
    }

    private mutating func take(_ item: CaptureItem, _ report: inout ImportReport) {
        report.count(item)
        switch item {
        case .failure: break
        case .cookie(let record, _):
            report.lines += 1
            if collection.receive(record) { report.replaced += 1 } else { report.taken += 1 }
        case .response(let response): take(response, &report)
        }
    }

    private mutating func take(_ response: CapturedResponse, _ report: inout ImportReport) {
        guard let (received, time) = response.received(countingFromNow: receivedNow, now: now, &report) else { return }
        for (index, decision) in collection.receive(received, at: time).enumerated() {
            report.count(decision, at: response.place, line: index + 1, received: time)
        }
    }
}
