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

    /// Imports one file. What could be read is stored even where the file turns out to be broken; a file that was
    /// imported whole before changes nothing.
    func importFile(_ input: InputFile) throws -> ImportReport {
        var report = ImportReport(source: input.name)
        if !again, try isRepeatable(input), let earlier = try earlierImport(of: input) {
            report.alreadyImported = ImportReport.EarlierImport(earlier)
            return report
        }
        var capture = CaptureInProgress(digest: emptyDigest)
        var reader = CaptureReader(source: input.name, url: url)
        var waiting = WaitingItems()
        func take(_ item: CaptureItem) throws(SessionStoreError) {
            if waiting.lines >= CaptureImporter.batchLineLimit || waiting.bytes >= CaptureImporter.batchByteLimit {
                try store(waiting.takeAll(), of: &capture, &report)
            }
            waiting.append(item)
        }
        do {
            try input.forEachChunk { chunk in
                capture.digest.update(chunk)
                try reader.read(chunk.span) { item throws(SessionStoreError) in try take(item) }
            }
            try reader.finish { item throws(SessionStoreError) in try take(item) }
            capture.isWhole = true
            try store(waiting.takeAll(), of: &capture, &report)
        } catch let problem as Problem {
            // Reading has failed half-way: what came before is worth keeping.
            try store(waiting.takeAll(), of: &capture, &report)
            report.failures.append(ImportReport.Failure(problem, source: input.name))
        }
        report.format = reader.format?.rawValue
        return report
    }

    /// What the import is told besides the file belongs to what makes it the same import.
    private var emptyDigest: CaptureDigest {
        var digest = CaptureDigest()
        digest.update("\(url ?? "") \(receivedNow)\n".utf8)
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
        guard items.contains(where: \.hasCookies) else {
            for item in items { report.count(item) }
            return
        }
        if capture.id == nil { capture.id = try jar.beginCapture(named: report.source, now: now) }
        let (_, evicted) = try jar.withBatch(from: capture.id, now: now) { batch throws(SessionStoreError) in
            for item in items {
                report.count(item)
                switch item {
                case .failure: break
                case .cookie(let record, let place): report.count(try batch.receive(record), at: place, line: nil)
                case .response(let response): try store(response, in: &batch, &report)
                }
            }
            // Of a broken file there may be more to read once it is mended.
            if capture.isWhole, report.failures.isEmpty { try batch.finishCapture(capture.digest) }
        }
        report.count(evicted)
    }

    private func store(
        _ response: CapturedResponse, in batch: inout CookieBatch, _ report: inout ImportReport
    ) throws(SessionStoreError) {
        // Most entries of a capture set nothing; some have a URL that no cookie could come from.
        guard !response.setCookie.isEmpty else { return }
        let requested: RequestURL
        do {
            requested = try RequestURL(response.url)
        } catch {
            let message = "\(response.place): \(error.description)"
            report.failures.append(ImportReport.Failure(Problem(.urlInvalid, message), source: response.place.source))
            return
        }
        let received = ReceivedResponse(
            context: RequestContext(url: requested), status: response.status, setCookie: response.setCookie)
        let time = receivedNow ? now : min(response.time ?? now, now)
        for (index, decision) in try batch.receive(received, at: time).enumerated() {
            report.count(decision, at: response.place, line: index + 1)
        }
    }
}

/// The capture that is being imported.
private struct CaptureInProgress {
    var digest: CaptureDigest
    /// Whether it was read to its end.
    var isWhole = false
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
    /// Whether there is anything in it to store.
    fileprivate var hasCookies: Bool {
        switch self {
        case .response(let response): !response.setCookie.isEmpty
        case .cookie: true
        case .failure: false
        }
    }
}
