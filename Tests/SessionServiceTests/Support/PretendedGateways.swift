import CookieModel
import GatewayModel
import SessionOperations
import SessionStore
import Synchronization

@testable import SessionService

/// Gateways that listen nowhere: what passes through them is what a test says.
final class PretendedGateways: Sendable {
    /// The limits of services that run them.
    static let limits: GatewayLimits = {
        var limits = GatewayLimits()
        limits.count = 3
        return limits
    }()

    private let jobs = Mutex<[GatewayJob]>([])

    /// The jobs of all that were started, in their order.
    var all: [GatewayJob] { jobs.withLock { $0 } }

    /// Runs one until the task is cancelled. Port 1 cannot be listened on.
    func run(_ job: GatewayJob) async throws {
        jobs.withLock { $0.append(job) }
        guard job.settings.port != 1 else {
            throw OperationError(.gatewayNotStarted, "cannot listen on 127.0.0.1:1: it is taken")
        }
        try await job.serving(
            GatewayJob.Access(
                listening: [GatewayListening(address: "127.0.0.1:8080")],
                authority: job.authority?.certificatePEM, openConnections: { 2 }))
    }

    /// Lets a request pass through the last one.
    func pass(_ url: String, stored: [String] = [], failure: String? = nil) {
        all.last?.log?(
            GatewayRequestReport(
                time: ServiceFixture.now.rfc3339, method: "GET", url: url, status: failure == nil ? 200 : 502,
                decorated: true, verdict: EngineVerdictReport(source: "witness", classes: ["strict"]),
                cookiesSent: ["sid"], cookiesStored: stored, replayed: false, signedInAgain: false, loginFailure: nil,
                failure: failure))
    }
}
