import CookieModel
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import OAuth2
import SessionOperations
import SessionStore
import Synchronization

/// Keeps a running service from giving out and changing anything until a passphrase opens it again, as `ssh-add -x` does
/// with an agent.
///
/// The lock is in memory: it ends with the process. It keeps out callers of the service, not users who can read
/// the database and its key.
final class AgentLock: Sendable {
    /// The longest time between two attempts, in seconds.
    private static let longestPause: Int64 = 30

    private struct Closed {
        /// The passphrase itself is not kept: a person may use it elsewhere.
        let key = SymmetricKey(size: .bits256)
        let code: HMAC<SHA256>.MAC
        var failures = 0
        var lastFailure = Timestamp.distantPast

        init(_ passphrase: Secret) {
            code = HMAC<SHA256>.authenticationCode(for: passphrase.exposedBytes, using: key)
        }

        func isOpened(by passphrase: Secret) -> Bool {
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: passphrase.exposedBytes, using: key)
        }

        /// How many seconds of the pause after a failed attempt are left: 1 after the first one, twice as many after
        /// each further one. A clock that was put back ends the pause.
        func pause(now: Timestamp) -> Int64 {
            guard failures > 0, now >= lastFailure else { return 0 }
            let pause = min(Int64(1) << min(failures - 1, 10), AgentLock.longestPause)
            return max(0, pause - (now.seconds - lastFailure.seconds))
        }
    }

    private let closed = Mutex<Closed?>(nil)

    /// Whether the service is locked.
    var isLocked: Bool { closed.withLock { $0 != nil } }

    /// Refuses a request while the service is locked.
    func check() throws(ServiceFailure) {
        guard !isLocked else { throw .agentLocked }
    }

    /// Locks the service.
    ///
    /// - Throws: `ServiceFailure` if it is locked already: the first passphrase counts.
    func lock(_ passphrase: Secret) throws(ServiceFailure) {
        try closed.withLock { closed throws(ServiceFailure) in
            guard closed == nil else { throw .agentLocked }
            closed = Closed(passphrase)
        }
    }

    /// Unlocks the service.
    ///
    /// - Throws: `ServiceFailure` if the passphrase is another one, or if it is too early after a failed attempt.
    func unlock(_ passphrase: Secret, now: Timestamp) throws(ServiceFailure) {
        try closed.withLock { closed throws(ServiceFailure) in
            guard var state = closed else { return }
            let pause = state.pause(now: now)
            guard pause == 0 else {
                throw .tooManyRequests("the last passphrase was wrong", retryAfter: .seconds(pause))
            }
            if state.isOpened(by: passphrase) {
                closed = nil
                return
            }
            state.failures += 1
            state.lastFailure = now
            closed = state
            throw .agentPassphraseWrong
        }
    }
}

extension ServiceFailure {
    static let agentLocked = ServiceFailure(
        .agentLocked,
        "the service is locked; unlock it with 'crumb token agent unlock'")

    fileprivate static let agentPassphraseWrong = ServiceFailure(
        .agentPassphraseWrong, "this is not the passphrase of the lock")
}
