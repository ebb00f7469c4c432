import CookieModel
import CrumbCommands
import ResponseStore
import SessionGateway
import SessionOperations
import SessionStore
import Synchronization

/// Hands on what happens in a gateway: to the log of its job, and to its user.
///
/// Reports are made apart from the serving of requests, because the reader of a log may pause. Then the oldest are kept.
final class GatewayReports: Sendable {
    private let job: GatewayJob
    private let cache: ResponseCache?
    private let queue: AsyncStream<@Sendable () -> Void>.Continuation
    private let writing: Task<Void, Never>
    /// The login failures that the user knows of.
    private let told = Mutex<Set<LoginFailure>>([])
    /// How many failures of the cache were seen, and when the user was told of those with a code.
    private let cacheFailures = Mutex<(seen: Int, told: [String: Timestamp])>((0, [:]))
    /// How many seconds pass before the user is told of a failure of the cache once more.
    private static let cacheInterval: Int64 = 3600

    init(of job: GatewayJob, _ cache: ResponseCache?) {
        self.job = job
        self.cache = cache
        let (reports, queue) = AsyncStream<@Sendable () -> Void>.makeStream(bufferingPolicy: .bufferingOldest(10_000))
        self.queue = queue
        writing = Task { for await report in reports { report() } }
    }

    deinit {
        queue.finish()
    }

    /// Reports a request.
    func add(_ record: GatewayRecord) {
        if let failure = record.loginFailure, told.withLock({ $0.count < 1000 && $0.insert(failure).inserted }) {
            job.failed(failure.description)
        }
        reportCacheFailure(now: record.time)
        job.passed?(GatewayPassage(record))
        if let log = job.log { queue.yield { log(GatewayRequestReport(record)) } }
    }

    /// Tells the user what keeps responses from being stored. Requests are answered all the same.
    private func reportCacheFailure(now: Timestamp) {
        guard let cache, let failure = cache.lastFailure, failure.code != .databaseBusy else { return }
        let (count, code) = (cache.failureCount, failure.code.rawValue)
        let isDue = cacheFailures.withLock { known in
            guard known.seen != count else { return false }
            known.seen = count
            if let last = known.told[code], now < last.advanced(bySeconds: GatewayReports.cacheInterval) {
                return false
            }
            known.told[code] = now
            return true
        }
        if isDue { job.failed("the cache cannot store responses: \(failure.commandDescription)") }
    }

    /// Gets the events of pages; `nil` if the job wants none.
    var pageEvents: (@Sendable (PageEvent) -> Void)? {
        guard let take = job.pageEvents else { return nil }
        return { [queue] event in queue.yield { take(PageEventReport(event)) } }
    }

    /// Waits until the log is written, for a second at most: a reader that has stopped does not hold the process.
    func finish() async {
        queue.finish()
        let (ends, end) = AsyncStream<Void>.makeStream()
        Task {
            await writing.value
            end.finish()
        }
        Task {
            try? await Task.sleep(for: .seconds(1))
            end.finish()
        }
        for await _ in ends {}
    }
}

extension GatewayRequestReport {
    fileprivate init(_ record: GatewayRecord) {
        self.init(
            time: record.time.rfc3339, method: record.method, url: record.url, status: record.status,
            decorated: record.isDecorated, verdict: record.verdict.map { EngineVerdictReport($0) },
            cookiesSent: record.cookiesSent.map(\.description), cookiesStored: record.cookiesStored.map(\.description),
            cookiesRejected: record.cookiesRejected.isEmpty
                ? nil
                : record.cookiesRejected.map {
                    RejectedCookieReport(name: $0.name.description, reasons: $0.reasons.identifiers)
                },
            cookiesDeleted: record.cookiesDeleted.isEmpty ? nil : record.cookiesDeleted.map(\.description),
            replayed: record.isReplayed, signedInAgain: record.isSignedInAgain, loginFailure: record.loginFailure?.code,
            failure: record.failure, hint: record.hint?.code, cache: record.cacheStatus, user: record.user)
    }
}

extension GatewayPassage {
    fileprivate init(_ record: GatewayRecord) {
        let outcome: Outcome =
            switch record.hint {
            case .authorityNotTrusted: .authorityNotTrusted
            case .isOfProgram(let name): .isOfProgram(name)
            case nil where record.isUnread: .unread
            case nil where record.failure == "tls_certificate_error": .serverNotTrusted
            case nil: .read
            }
        self.init(host: record.host, outcome: outcome)
    }
}

extension PageEventReport {
    fileprivate init(_ event: PageEvent) {
        let text = String(validating: event.body, as: UTF8.self)
        self.init(
            time: event.time.rfc3339, origin: event.origin, query: event.query.description,
            data: text, dataBase64: text == nil ? Octets(event.body).base64 : nil, user: event.user)
    }
}
