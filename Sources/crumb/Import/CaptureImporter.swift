import Captures
import CookieModel
import SessionStore

/// Takes the cookies of one capture into a jar, in one transaction, and accounts for every line.
struct CaptureImporter {
    let jar: CookieJar
    /// The URL of a raw dump's first response.
    let url: String?
    /// Whether lifetimes count from now instead of from when the capture was made.
    let receivedNow: Bool
    let now: Timestamp

    /// Imports one file. What could be read is stored even where the file turns out to be broken.
    func importFile(_ input: InputFile) throws -> ImportReport {
        try jar.withBatch(now: now) { batch throws(SessionStoreError) in
            var report = ImportReport(source: input.name)
            var reader = CaptureReader(source: input.name, url: url)
            var storeError: SessionStoreError?
            do {
                try input.forEachChunk { chunk in
                    try reader.read(chunk.span) { item throws(SessionStoreError) in
                        try take(item, into: &batch, &report)
                    }
                }
                try reader.finish { item throws(SessionStoreError) in try take(item, into: &batch, &report) }
            } catch let error as SessionStoreError {
                storeError = error
            } catch let problem as Problem {
                report.failures.append(ImportReport.Failure(problem, source: input.name))
            } catch {
                report.failures.append(
                    ImportReport.Failure(
                        Problem(.inputUnreadable, "\(input.name): the file cannot be read"), source: input.name))
            }
            if let storeError { throw storeError }
            report.format = reader.format?.rawValue
            return report
        }
    }

    private func take(
        _ item: CaptureItem, into batch: inout CookieBatch, _ report: inout ImportReport
    ) throws(SessionStoreError) {
        switch item {
        case .failure(let error):
            report.failures.append(ImportReport.Failure(error))
        case .cookie(let record, let place):
            report.count(try batch.receive(record), at: place, line: nil)
        case .response(let response):
            report.responses += 1
            // Most entries of a capture set nothing; some have a URL that no cookie could come from.
            guard !response.setCookie.isEmpty else { return }
            let requested: RequestURL
            do {
                requested = try RequestURL(response.url)
            } catch {
                let message = "\(response.place): \(error.description)"
                report.failures.append(
                    ImportReport.Failure(Problem(.urlInvalid, message), source: response.place.source))
                return
            }
            let time = receivedNow ? now : min(response.time ?? now, now)
            let received = ReceivedResponse(
                context: RequestContext(url: requested), status: response.status, setCookie: response.setCookie)
            let decisions = try batch.receive(received, at: time)
            for (index, decision) in decisions.enumerated() {
                report.count(decision, at: response.place, line: index + 1)
            }
        }
    }
}
