import CookieModel
import CrumbCommands
import SessionGateway
import SessionOperations
import Synchronization

/// Hands on what happens in a gateway: to the log of its job, and to its user.
///
/// Reports are made apart from the serving of requests, because the reader of a log may pause. Then the oldest are kept.
final class GatewayReports: Sendable {
    private let job: GatewayJob
    private let queue: AsyncStream<@Sendable () -> Void>.Continuation
    private let writing: Task<Void, Never>
    /// The login failures that the user knows of.
    private let told = Mutex<Set<LoginFailure>>([])

    init(of job: GatewayJob) {
        self.job = job
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
        job.passed?(GatewayPassage(record))
        if let log = job.log { queue.yield { log(GatewayRequestReport(record)) } }
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
            failure: record.failure, hint: record.hint?.code, cache: record.cacheStatus)
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
            data: text, dataBase64: text == nil ? Octets(event.body).base64 : nil)
    }
}
