import WebPrimitives

/// 2026-11-21T08:00:00Z.
let now = Timestamp(microseconds: 1_795_248_000_000_000)

/// The moment that many seconds after ``now``.
func after(_ seconds: Int64) -> Timestamp {
    now.advanced(bySeconds: seconds)
}
