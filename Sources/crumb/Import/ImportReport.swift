import Captures
import CookieModel
import SessionStore

/// What became of every Set-Cookie line and cookie of one capture.
struct ImportReport: Encodable {
    struct Refusal: Encodable {
        let place: String
        /// Which Set-Cookie line of the response, from 1.
        let line: Int?
        let name: String?
        let reasons: [ReasonReport]
    }

    /// The same capture, imported before.
    struct EarlierImport: Encodable {
        let source: String
        let at: String

        init(_ record: CaptureRecord) {
            source = record.name
            at = record.imported.rfc3339
        }
    }

    /// A cookie that made room for others, from this capture or stored before.
    struct Evicted: Encodable {
        let name: String
        let domain: String
        let path: String
        let reason: ReasonReport
    }

    struct Failure: Encodable {
        let source: String
        let code: String
        let message: String

        init(_ error: CaptureError) {
            source = error.place.source
            code = error.code.description
            message = error.description
        }

        init(_ problem: Problem, source: String) {
            self.source = source
            code = problem.status.code
            message = problem.message
        }
    }

    let source: String
    var format: String?
    /// Where the jar has been given the same capture before: nothing was changed.
    var alreadyImported: EarlierImport?
    var responses = 0
    var lines = 0
    var taken = 0
    var replaced = 0
    var deleted = 0
    /// How many had run out since they were received, so that they were not kept.
    var expired = 0
    /// How many cookies and lines could not be read, as far as that can be told.
    var unreadable = 0
    var refused: [Refusal] = []
    var evicted: [Evicted] = []
    var failures: [Failure] = []
    /// What the capture holds besides cookies, and what was left out because it was not asked for.
    var notes: [Failure] = []

    init(source: String) {
        self.source = source
    }

    /// Accounts for what was read, before anything is decided on it.
    mutating func count(_ item: CaptureItem) {
        switch item {
        case .failure(let error) where error.severity == .notice: notes.append(Failure(error))
        case .failure(let error):
            unreadable += error.count
            failures.append(Failure(error))
        case .response: responses += 1
        case .cookie: break
        }
    }

    /// Accounts for one line.
    ///
    /// - Parameter time: when it was received: one whose lifetime ended later has run out, one whose lifetime ended then
    ///   was sent to delete a cookie.
    mutating func count(_ decision: StorageDecision, at place: CapturePlace, line: Int?, received time: Timestamp) {
        lines += 1
        count(decision.evicted)
        switch decision.outcome {
        case .stored: taken += 1
        case .replaced: replaced += 1
        case .deleted:
            if let expiry = decision.cookie?.expiry, expiry > time { expired += 1 } else { deleted += 1 }
        case .rejected:
            refused.append(
                Refusal(
                    place: place.description, line: line, name: decision.name?.description,
                    reasons: decision.reasons.reasons.map { ReasonReport($0) }))
        }
    }

    /// Accounts for cookies that had to go.
    mutating func count(_ evictions: [Eviction]) {
        evicted += evictions.map { eviction in
            Evicted(
                name: eviction.cookie.name.description, domain: eviction.cookie.domain.description,
                path: eviction.cookie.path.description, reason: ReasonReport(eviction.reason))
        }
    }

    /// The report for a person.
    var text: String {
        if let alreadyImported {
            return "\(source): imported before, on \(alreadyImported.at) as \(alreadyImported.source); "
                + "nothing was changed (--again imports it again)"
        }
        let isDump = responses == 0 && (lines > 0 || format == CaptureFormat.netscape.rawValue)
        let what =
            isDump
            ? counted(lines, "cookie") : "\(counted(lines, "Set-Cookie line")) in \(counted(responses, "response"))"
        var rows = [
            "\(source): \(what): \(taken) taken, \(replaced) replaced, \(deleted) deleted, "
                + (expired == 0 ? "" : "\(expired) expired, ") + "\(refused.count) refused"
                + (unreadable == 0 ? "" : ", \(unreadable) unreadable")
                + (evicted.isEmpty ? "" : ", \(evicted.count) evicted")
        ]
        for refusal in refused {
            let line = refusal.line.map { ", Set-Cookie \($0)" } ?? ""
            let name = refusal.name.map { $0.isEmpty ? " (no name)" : " '\($0)'" } ?? ""
            let reasons = refusal.reasons.map { "\($0.explanation) (\($0.id))" }.joined(separator: "; ")
            rows.append("  refused \(refusal.place)\(line)\(name): \(reasons)")
        }
        for cookie in evicted {
            let name = cookie.name.isEmpty ? "(no name)" : "'\(cookie.name)'"
            rows.append(
                "  evicted \(name) of \(cookie.domain)\(cookie.path): \(cookie.reason.explanation) (\(cookie.reason.id))"
            )
        }
        return rows.joined(separator: "\n")
    }
}
