import CookieModel
import Synchronization

/// When access tokens were used last, until somebody writes it down.
final class TokenUses: Sendable {
    /// How exactly that is known: a write an hour is enough.
    private static let granularity: Int64 = 3600

    private struct State {
        var pending: [String: Timestamp] = [:]
        var written: [String: Timestamp] = [:]
    }

    private let state = Mutex(State())

    /// A token was used.
    func note(_ name: String, _ now: Timestamp) {
        state.withLock { state in
            if let last = state.written[name], now < last.advanced(bySeconds: TokenUses.granularity), last <= now {
                return
            }
            state.written[name] = now
            state.pending[name] = now
        }
    }

    /// What is to be written down, once.
    func take() -> [String: Timestamp] {
        state.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
    }
}
