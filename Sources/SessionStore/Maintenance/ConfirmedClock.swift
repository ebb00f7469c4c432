internal import CookieModel

/// Decides from which cookies on it is certain that they have expired, whatever the clock does.
///
/// An expired cookie is never sent, but its row stays until the clock is confirmed: a day must pass on it after it was
/// seen past the cookie's expiry. A day is counted in steps between two sightings, and a long step counts for no more
/// than ``longestStep``: a clock that jumps ten years ahead has gone on for eight hours. A clock that goes back behind
/// the time that waits for confirmation begins anew, and the cookies are valid again.
struct ConfirmedClock: Equatable {
    /// How long a time waits before it is confirmed, in microseconds.
    static let waitingTime: Int64 = 24 * 3_600_000_000
    /// The maximum that one step adds.
    static let longestStep: Int64 = 8 * 3_600_000_000
    /// How often batches write the clock down.
    private static let granularity: Int64 = 3_600_000_000

    /// The time of the last sighting.
    private(set) var seen: Timestamp
    /// The steps so far, in microseconds.
    private(set) var elapsed: Int64 = 0
    /// The time that waits for confirmation.
    private(set) var mark: Timestamp
    private(set) var markElapsed: Int64 = 0
    /// Cookies that expired before this time are gone for good; `nil` before the first confirmation.
    private(set) var confirmed: Timestamp?

    /// A clock that is seen for the first time.
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

    /// Whether a sighting at `now` is worth a write of its own.
    func isDue(at now: Timestamp) -> Bool {
        now < seen || now.microseconds - ConfirmedClock.granularity >= seen.microseconds
    }

    /// Takes in the time that the clock shows.
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

/// The `confirmed_clock` table.
struct ConfirmedClockRows {
    let database: Connection

    /// The clock as it was written down, `nil` before it was.
    func clock() throws -> ConfirmedClock? {
        try database.statement(
            "SELECT seen_at, elapsed, mark_at, mark_elapsed, confirmed_at FROM confirmed_clock"
        ).first { row in
            ConfirmedClock(
                seen: row.timestamp(0), elapsed: row.int64(1), mark: row.timestamp(2),
                markElapsed: row.int64(3), confirmed: row.optionalTimestamp(4))
        }
    }

    /// Sees the clock at `now`.
    ///
    /// - Parameter isFrequent: whether this is asked so often that it is not written down each time.
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
