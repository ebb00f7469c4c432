import Foundation
import Testing
import WebPrimitives

@Suite("Timestamps, dates and the clock")
struct TimestampDateTests {
    @Test(
        "A date is a moment to the microsecond",
        arguments: [
            (0, 0), (1_795_000_000.25, 1_795_000_000_250_000), (-1.5, -1_500_000), (0.000_000_6, 1),
            (.infinity, .max), (-.infinity, .min), (1e300, .max), (.nan, .min),
        ] as [(Double, Int64)])
    func date(seconds: Double, microseconds: Int64) {
        #expect(Timestamp(Date(timeIntervalSince1970: seconds)).microseconds == microseconds)
    }

    @Test("A timestamp converted to a date and back is unchanged")
    func roundTrip() {
        for moment in [0, 1, -1, 1_795_000_000_123_456, 4_102_444_799_123_457] as [Int64] {
            #expect(Timestamp(Date(Timestamp(microseconds: moment))).microseconds == moment)
        }
    }

    @Test("`now` is the system's time")
    func now() {
        let before = Timestamp(Date())
        let now = Timestamp.now
        #expect(before <= now && now <= Timestamp(Date()))
    }
}
