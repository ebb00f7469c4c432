public import CookieModel
internal import Synchronization
internal import WebPrimitives

/// The clock of a ``SessionDatabase``: the time of every call that is not given one.
public struct StoreClock: Sendable {
    private let read: @Sendable () -> Timestamp

    /// Creates a clock.
    ///
    /// - Parameter now: returns the current time. It is called for each call of the database that needs the time.
    public init(_ now: @escaping @Sendable () -> Timestamp) {
        read = now
    }

    /// The current time.
    public var now: Timestamp { read() }

    /// The clock of the system.
    public static let system = StoreClock { .now }

    /// A clock that stands still, for tests: no cookie and no token expires.
    public static func fixed(_ time: Timestamp) -> StoreClock {
        StoreClock { time }
    }

    /// A clock that shows a time which the caller sets, for tests.
    public static func manual(_ time: ManualTime) -> StoreClock {
        StoreClock { time.now }
    }
}

/// The time of a clock that a test moves: ``StoreClock/manual(_:)``.
public final class ManualTime: Sendable {
    private let time: Mutex<Timestamp>

    /// Creates a time.
    public init(_ start: Timestamp) {
        time = Mutex(start)
    }

    /// The current time.
    public var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Moves the time.
    public func advance(bySeconds seconds: Int64) {
        time.withLock { $0 = $0.advanced(bySeconds: seconds) }
    }
}
