-- V008, 2026-11-22: expired cookies stay until the clock is confirmed, so that a clock which jumps forward and back
-- loses none of them.
--
-- Compatible with V007's rows: nothing is confirmed yet, so the next removal of expired cookies begins to wait.

-- One row, written by whatever removes expired cookies. `seen_at` is the time that it last saw. `elapsed` adds up the
-- steps from one such time to the next, each cut to a few hours. `mark_at` is a time seen when `elapsed` was
-- `mark_elapsed`; once a day has been added, and the clock was never seen before the mark, cookies that had expired by
-- then may go: `confirmed_at` is that time.
CREATE TABLE confirmed_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seen_at INTEGER NOT NULL,
    elapsed INTEGER NOT NULL,
    mark_at INTEGER NOT NULL,
    mark_elapsed INTEGER NOT NULL,
    confirmed_at INTEGER
) STRICT;
