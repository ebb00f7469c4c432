import CookieModel
import SessionStore
import Synchronization

/// How changes are followed.
struct ChangeFollowing: Sendable {
    /// How often the journal is read for changes by other processes.
    var interval = Duration.milliseconds(250)
    /// After how many questions without an answer the follower gets a sign of life.
    var heartbeat = 60
    /// How many milliseconds a follower waits before it comes again.
    var retry = 2000
}

/// Sends a jar's changes to one follower as server-sent events (HTML, section 9.2): those that this process writes at
/// once, those of other processes after a delay.
struct ChangeFollower: Sendable {
    let jar: CookieJar
    let following: ChangeFollowing
    let changes: ChangeSignal
    /// The follower, which is served as long as its access token is valid.
    let caller: Caller
    let tokens: ServiceTokenStore
    let now: @Sendable () -> Timestamp
    /// A page of the journal as events.
    let events: @Sendable (ChangePage) throws -> [UInt8]

    /// The follower that sends the changes.
    var follower: EventFollower {
        EventFollower(subject: jar.name, following: following, signal: changes) { position in
            // A follower that connects again is told that the jar is gone, that changes were missed in another jar of
            // its name, or that the token has ended.
            guard let page = try await jar.database.reading({ try page(after: position) }) else { return nil }
            let isEmpty = page.changes.isEmpty && !page.hasGap
            return EventFollower.Page(events: isEmpty ? [] : try events(page), position: page.position)
        }
    }

    private func page(after position: Int64) throws(SessionStoreError) -> ChangePage? {
        guard try caller.isStillAdmitted(by: tokens, now: now()) else { return nil }
        do {
            return try jar.changes(after: position, count: 1000)
        } catch  where error.code == .jarNotFound {
            return nil
        }
    }
}

/// Tells those who follow a jar that something was written to it in this process, so that they need not wait until they
/// look again.
final class ChangeSignal: Sendable {
    private struct State {
        var followers: [String: [Int: AsyncStream<Void>.Continuation]] = [:]
        var next = 0
    }

    /// The number of followers. It is nearly always 0, and then a write does nothing more.
    private let count = Atomic(0)
    private let state = Mutex(State())

    /// Something may have been written to a jar; `nil` for any.
    func notify(_ jar: @autoclosure () -> String?) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        let jar = jar()
        let followers = state.withLock { state in
            jar.map { state.followers[$0].map { Array($0.values) } ?? [] }
                ?? state.followers.values.flatMap { Array($0.values) }
        }
        for follower in followers { follower.yield() }
    }

    /// Signals for a jar, until `end` is called or the stream is dropped. Several at once are one.
    func follow(_ jar: String) -> (signals: AsyncStream<Void>, signal: @Sendable () -> Void, end: @Sendable () -> Void)
    {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.next += 1
            state.followers[jar, default: [:]][state.next] = continuation
            return state.next
        }
        count.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in self?.forget(id, jar) }
        return (stream, { continuation.yield() }, { continuation.finish() })
    }

    private func forget(_ id: Int, _ jar: String) {
        let isKnown = state.withLock { state in
            let isKnown = state.followers[jar]?.removeValue(forKey: id) != nil
            if state.followers[jar]?.isEmpty == true { state.followers[jar] = nil }
            return isKnown
        }
        if isKnown { count.subtract(1, ordering: .relaxed) }
    }
}
