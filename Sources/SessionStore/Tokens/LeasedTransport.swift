internal import CookieModel
internal import OAuth2
internal import Synchronization

/// Sends requests for as long as a lease is held: it is renewed before each, and none is sent after its end.
///
/// A program may be stopped at any moment and go on an hour later. What it then sends with a refresh token that somebody
/// else has used meanwhile would end the login.
struct LeasedTransport: EndpointTransport {
    private let base: any EndpointTransport
    private let timeout: Duration
    private let renew: @Sendable () throws -> Timestamp?
    private let state = State()

    /// - Parameters:
    ///   - base: what sends the requests, and heeds ``EndpointRequest/latestSending`` and
    ///     ``EndpointRequest/answerTimeout``.
    ///   - timeout: how long an answer is waited for.
    ///   - renew: makes the lease last longer; its end, `nil` where it is another's.
    init(
        _ base: any EndpointTransport, timeout: Duration, renew: @escaping @Sendable () throws -> Timestamp?
    ) {
        self.base = base
        self.timeout = timeout
        self.renew = renew
    }

    /// Why nothing was sent; `nil` where that was not for want of the lease.
    var failure: (any Error)? { state.failure.withLock { $0 } }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let end: Timestamp?
        do {
            end = try renew()
            if end == nil { state.failure.withLock { $0 = LeaseLost() } }
        } catch {
            state.failure.withLock { $0 = error }
            end = nil
        }
        guard let end else { throw OAuth2Error(unreachable: "somebody else refreshes the tokens") }
        return try await base.send(request.sent(before: end.microseconds, answeredWithin: timeout))
    }

    private final class State: Sendable {
        let failure = Mutex<(any Error)?>(nil)
    }
}

/// The lease is another's: nothing was sent, and what that other has got is to be looked at.
struct LeaseLost: Error {}
