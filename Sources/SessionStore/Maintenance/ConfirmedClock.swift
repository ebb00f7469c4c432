internal import CookieModel

/// Decides which cookies have certainly expired, even if the clock is wrong.
///
/// An expired cookie is never sent, but its row stays until the clock is confirmed: a day must pass after the clock was
/// seen past the cookie's expiry. The day is the sum of steps between two readings of the clock. A step counts for at
/// most ``longestStep``, so a jump of ten years counts as eight hours. If the clock goes back to before the time that
/// waits for confirmation, the day starts again, and the cookies are valid again.
struct ConfirmedClock: Equatable {
    /// How long a time waits for confirmation, in microseconds.
    static let waitingTime: Int64 = 24 * 3_600_000_000
    /// The maximum that one step adds.
    static let longestStep: Int64 = 8 * 3_600_000_000
    /// How often batches store the clock.
    private static let granularity: Int64 = 3_600_000_000

    /// The last reading of the clock.
    private(set) var seen: Timestamp
    /// The steps so far, in microseconds.
    private(set) var elapsed: Int64 = 0
    /// The time that waits for confirmation.
    private(set) var mark: Timestamp
    private(set) var markElapsed: Int64 = 0
    /// Cookies that expired before this time can be removed; `nil` before the first confirmation.
    private(set) var confirmed: Timestamp?

    /// Creates a clock with its first reading.
    init(now: Timestamp) {
        seen = now
        mark = now
    }

    init(seen: Timestamp, elapsed: Int64, mark: Timestamp, markElapsed: Int64, confirmed: Timestamp?) {
        self.seen = seen
        self.elapsed = elapsed
        self.mark = mark
        self.markElapsed = markElapsed
        self.confirmed = confirmed
    }

    /// Whether a reading at `now` has to be stored.
    func isDue(at now: Timestamp) -> Bool {
        now < seen || now.microseconds - ConfirmedClock.granularity >= seen.microseconds
    }

    /// Records a reading of the clock.
    mutating func see(_ now: Timestamp) {
        let (step, isTooFar) = now.microseconds.subtractingReportingOverflow(seen.microseconds)
        if now > seen { elapsed += isTooFar ? ConfirmedClock.longestStep : min(step, ConfirmedClock.longestStep) }
        seen = now
        if let last = confirmed, now < last { confirmed = now }
        if now < mark {
            (mark, markElapsed) = (now, elapsed)
        } else if elapsed - markElapsed >= ConfirmedClock.waitingTime {
            confirmed = mark
            (mark, markElapsed) = (now, elapsed)
        }
    }
}

/// Rows of the `confirmed_clock` table.
struct ConfirmedClockRows {
    let database: Connection

    /// The stored clock; `nil` if none was stored.
    func clock() throws -> ConfirmedClock? {
        try database.statement(
            "SELECT seen_at, elapsed, mark_at, mark_elapsed, confirmed_at FROM confirmed_clock"
        ).first { row in
            ConfirmedClock(
                seen: row.timestamp(0), elapsed: row.int64(1), mark: row.timestamp(2),
                markElapsed: row.int64(3), confirmed: row.optionalTimestamp(4))
        }
    }

    /// Records a reading of the clock.
    ///
    /// - Parameter isFrequent: whether calls are so frequent that not each of them stores the clock.
    func see(_ now: Timestamp, isFrequent: Bool = false) throws -> ConfirmedClock {
        let last = try clock()
        var clock = last ?? ConfirmedClock(now: now)
        if let last, isFrequent, !last.isDue(at: now) { return last }
        clock.see(now)
        if clock != last { try write(clock) }
        return clock
    }

    private func write(_ clock: ConfirmedClock) throws {
        try database.statement(
            """
            INSERT INTO confirmed_clock (id, seen_at, elapsed, mark_at, mark_elapsed, confirmed_at)
            VALUES (1, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, elapsed = excluded.elapsed,
                mark_at = excluded.mark_at, mark_elapsed = excluded.mark_elapsed, confirmed_at = excluded.confirmed_at
            """
        ).run(clock.seen, clock.elapsed, clock.mark, clock.markElapsed, clock.confirmed)
    }
}
