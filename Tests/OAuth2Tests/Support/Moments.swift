/// 2026-11-21T08:00:00Z, in microseconds since the Unix epoch.
let now: Int64 = 1_795_248_000_000_000

/// So many seconds after ``now``.
func after(_ seconds: Int64) -> Int64 {
    now + seconds * 1_000_000
}
