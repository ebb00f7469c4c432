import CookieModel
import Synchronization

/// When jars' requests were signed in again last, by which rule.
///
/// By it those learn that need do nothing more whose request was under way meanwhile; and who was refused with what a
/// renewal has just given is not given the same again.
final class RenewalMemory: Sendable {
    /// How many seconds after a renewal its fruit counts as fresh.
    static let settlingTime: Int64 = 10
    /// How many seconds one is remembered.
    private static let lifetime: Int64 = 3600

    private struct Key: Hashable {
        let jar: String
        let rule: String
    }

    private let moments = Mutex<[Key: Timestamp]>([:])

    /// A renewal has ended.
    func note(_ rule: String, of jar: String, at now: Timestamp) {
        moments.withLock { moments in
            moments = moments.filter { now < $0.value.advanced(bySeconds: RenewalMemory.lifetime) }
            moments[Key(jar: jar, rule: rule)] = now
        }
    }

    /// Whether a request that was sent at `time` went out before the last renewal had ended.
    func isOlder(_ time: Timestamp?, than rule: String, of jar: String) -> Bool {
        guard let time, let last = last(rule, of: jar) else { return false }
        return time < last
    }

    /// Whether a request that was sent at `time` had what the last renewal gave, just now.
    func isFruitless(_ time: Timestamp?, _ rule: String, of jar: String, now: Timestamp) -> Bool {
        guard let time, let last = last(rule, of: jar) else { return false }
        return time >= last && now < last.advanced(bySeconds: RenewalMemory.settlingTime)
    }

    private func last(_ rule: String, of jar: String) -> Timestamp? {
        moments.withLock { $0[Key(jar: jar, rule: rule)] }
    }
}
