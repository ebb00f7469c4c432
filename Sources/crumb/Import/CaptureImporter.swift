import BrowserCookies
import Captures
import CookieModel
import SessionStore

/// Takes the cookies of captures into a jar and accounts for every line.
///
/// The database is locked while cookies are written, never while a capture is read: a pipe may take its time.
struct CaptureImporter {
    /// How many lines, and how many bytes of them, wait to be written in one transaction.
    private static let batchLineLimit = 10_000
    private static let batchByteLimit = 8 << 20
    /// How much of a pipe is kept in memory, to see whether it was imported before.
    private static let pipeLimit = 32 << 20

    let jar: CookieJar
    /// The URL of a raw dump's first response.
    let url: String?
    /// Whether lifetimes count from now instead of from when the capture was made.
    let receivedNow: Bool
    /// Whether a capture that was imported before is imported again.
    let again: Bool
    let now: Timestamp
    /// The format of all captures; `nil` to tell it by what they hold.
    var format: CaptureFormat?
    /// What is asked for of a browser's database.
    var database = BrowserDatabase.Options()
    /// Whether a person sees how far it has come.
    var showsProgress = false

    /// Imports one file. What could be read is stored even where the file turns out to be broken; a file that was
    /// imported whole before changes nothing.
    func importFile(_ input: InputFile) throws -> ImportReport {
        if format?.isDatabase ?? true, let path = try databasePath(input) { return try importDatabase(path, input) }
        var report = ImportReport(source: input.name)
        if !again, try isRepeatable(input), let earlier = try earlierImport(of: input) {
            report.alreadyImported = ImportReport.EarlierImport(earlier)
            return report
        }
        var reader = CaptureReader(source: input.name, url: url, format: format)
        var progress = ImportProgress(name: input.name, total: input.byteCount, isShown: showsProgress)
        defer { progress.finish() }
        try gather(&report) { take in
            var digest = emptyDigest
            var counts = (entries: 0, cookies: 0)
            var lastPlace: CapturePlace?
            try input.forEachChunk { chunk in
                try stopWhereAsked(after: progress.byteCount, lastPlace)
                digest.update(chunk)
                try reader.read(chunk.span) { item in
                    lastPlace = item.place
                    counts.entries += 1
                    counts.cookies += item.cookieCount
                    try take(item)
                }
                progress.add(chunk.count, entries: counts.entries, cookies: counts.cookies)
            }
            try stopWhereAsked(after: progress.byteCount, lastPlace)
            try reader.finish { item in try take(item) }
            return digest
        }
        report.format = reader.format?.rawValue
        return report
    }

    /// Imports a browser's database. It changes all the time, so that it is never one that was imported before.
    private func importDatabase(_ path: String, _ input: InputFile) throws -> ImportReport {
        var report = ImportReport(source: input.name)
        var found: CaptureFormat?
        try gather(&report) { take in
            do {
                found = try BrowserDatabase(path: path, source: input.name, options: database).read(as: format) {
                    item in
                    try take(item)
                }
            } catch let error as CaptureError {
                try take(.failure(error))
            }
            return nil
        }
        report.format = found?.rawValue
        return report
    }

    private func databasePath(_ input: InputFile) throws -> String? {
        do {
            return try input.databasePath()
        } catch is Problem {
            // The import itself says what is wrong with the file.
            return nil
        }
    }

    private func stopWhereAsked(after byteCount: Int, _ place: CapturePlace?) throws {
        guard Interruption.isRequested else { return }
        throw Problem(
            .interrupted,
            "stopped after \(byteCount) bytes, at \(place?.description ?? "the beginning"); what was read is stored")
    }

    /// Stores what `read` gives out, in steps, up to where it fails.
    ///
    /// - Parameter read: reads to the end; what it returns is the capture's digest, where it is to be known again by it.
    private func gather(
        _ report: inout ImportReport, _ read: ((CaptureItem) throws -> Void) throws -> CaptureDigest?
    ) throws {
        var capture = CaptureInProgress()
        var waiting = WaitingItems()
        do {
            capture.digest = try read { item in
                if waiting.lines >= CaptureImporter.batchLineLimit || waiting.bytes >= CaptureImporter.batchByteLimit {
                    try store(waiting.takeAll(), of: &capture, &report)
                }
                waiting.append(item)
            }
            try store(waiting.takeAll(), of: &capture, &report)
        } catch let problem as Problem {
            // Reading has failed half-way: what came before is worth keeping.
            try store(waiting.takeAll(), of: &capture, &report)
            report.failures.append(ImportReport.Failure(problem, source: report.source))
        }
    }

    /// What the import is told besides the file belongs to what makes it the same import.
    private var emptyDigest: CaptureDigest {
        var digest = CaptureDigest()
        digest.update("\(url ?? "") \(receivedNow)\(format.map { " \($0.rawValue)" } ?? "")\n".utf8)
        return digest
    }

    private func isRepeatable(_ input: InputFile) throws -> Bool {
        do {
            return try input.becomesRepeatable(within: CaptureImporter.pipeLimit)
        } catch is Problem {
            // The import itself says what is wrong with the file.
            return false
        }
    }

    private func earlierImport(of input: InputFile) throws -> CaptureRecord? {
        var digest = emptyDigest
        do {
            try input.forEachChunk { digest.update($0) }
        } catch is Problem {
            // The import itself says what is wrong with the file.
            return nil
        }
        return try jar.importedCapture(digest)
    }

    /// Writes what waits, in one transaction.
    private func store(
        _ items: [CaptureItem], of capture: inout CaptureInProgress, _ report: inout ImportReport
    ) throws(SessionStoreError) {
        guard items.contains(where: { $0.cookieCount > 0 }) else {
            for item in items { report.count(item) }
            return
        }
        if capture.id == nil { capture.id = try jar.beginCapture(named: report.source, now: now) }
        let (_, evicted) = try jar.withBatch(from: capture.id, now: now) { batch throws(SessionStoreError) in
            for item in items {
                report.count(item)
                switch item {
                case .failure: break
                case .cookie(let record, let place):
                    report.count(try batch.receive(record), at: place, line: nil, received: .distantPast)
                case .response(let response): try store(response, in: &batch, &report)
                }
            }
            // Of a broken file there may be more to read once it is mended.
            if let digest = capture.digest, report.failures.isEmpty { try batch.finishCapture(digest) }
        }
        report.count(evicted)
    }

    private func store(
        _ response: CapturedResponse, in batch: inout CookieBatch, _ report: inout ImportReport
    ) throws(SessionStoreError) {
        guard let (received, time) = response.received(countingFromNow: receivedNow, now: now, &report) else { return }
        for (index, decision) in try batch.receive(received, at: time).enumerated() {
            report.count(decision, at: response.place, line: index + 1, received: time)
        }
    }
}

/// The capture that is being imported.
private struct CaptureInProgress {
    /// What it is known again by; `nil` before it was read to its end.
    var digest: CaptureDigest?
    /// Its record in the jar, made with the first cookies.
    var id: CaptureID?
}

/// What was read and is not stored yet.
private struct WaitingItems {
    private var items: [CaptureItem] = []
    private(set) var lines = 0
    private(set) var bytes = 0

    mutating func append(_ item: CaptureItem) {
        items.append(item)
        lines += 1
        if case .response(let response) = item {
            lines += response.setCookie.count
            bytes += response.setCookie.reduce(0) { $0 + $1.count }
        }
    }

    mutating func takeAll() -> [CaptureItem] {
        defer { self = WaitingItems() }
        return items
    }
}

extension CaptureItem {
    /// How many cookies and Set-Cookie lines it has.
    fileprivate var cookieCount: Int {
        switch self {
        case .response(let response): response.setCookie.count
        case .cookie: 1
        case .failure: 0
        }
    }
}
