import CookieModel
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

    private let orders = Mutex<[GatewayOrder]>([])

    /// The orders of all that were started, in their order.
    var all: [GatewayOrder] { orders.withLock { $0 } }

    /// Runs one until the task is cancelled. Port 1 cannot be listened on.
    func run(_ order: GatewayOrder) async throws {
        orders.withLock { $0.append(order) }
        guard order.port != 1 else {
            throw OperationError(.gatewayNotStarted, "cannot listen on 127.0.0.1:1: it is taken")
        }
        try await order.serving(
            GatewayOrder.Access(
                listening: [GatewayListening(address: "127.0.0.1:8080")],
                authority: order.authority?.certificatePEM, openConnections: { 2 }))
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
