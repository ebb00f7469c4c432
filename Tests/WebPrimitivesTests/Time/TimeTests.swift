import Foundation
import TestSupport
import Testing

@testable import WebPrimitives

@Suite("Days, moments and their texts")
struct TimeTests {
    /// 2026-11-21T00:00:00Z.
    private static let start = Timestamp(seconds: 1_795_219_200)

    private var calendar: Calendar {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }

    @Test("A civil date is the one of Foundation's calendar, from 1601 to 9999")
    func calendars() throws {
        let calendar = calendar
        let first: Int64 = -11_644_473_600
        var random = SeededGenerator(seed: 7)
        // Every 29th day, and whatever the time of day.
        for day in stride(from: Int64(0), to: 3_067_671, by: 29) {
            let seconds = first + day * 86_400 + Int64(random.below(86_400))
            let civil = CivilDate(secondsSinceEpoch: seconds)
            #expect(civil.secondsSinceEpoch == seconds)
            guard day % 203 == 0 else { continue }
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
            let expected = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second, parts.weekday]
            let fields = [
                civil.year, civil.month, civil.day, civil.hour, civil.minute, civil.second, civil.weekday + 1,
            ]
            try #require(expected.compactMap { $0 } == fields, "\(seconds)")
        }
    }

    @Test("Every day from 1601 to 9999 follows the one before")
    func everyDay() {
        var previous = CivilDate(secondsSinceEpoch: -11_644_473_600)
        #expect((previous.year, previous.month, previous.day) == (1601, 1, 1))
        for day in 1..<3_067_671 {
            let civil = CivilDate(secondsSinceEpoch: -11_644_473_600 + Int64(day) * 86_400)
            let isNextDay =
                civil.day == previous.day + 1 && civil.month == previous.month && civil.year == previous.year
            let isNewMonth =
                civil.day == 1 && previous.day == CivilDate.daysInMonth(previous.month, of: previous.year)
                && civil.month == previous.month % 12 + 1 && civil.year == previous.year + (civil.month == 1 ? 1 : 0)
            guard isNextDay || isNewMonth else {
                Issue.record("\(civil) after \(previous)")
                return
            }
            previous = civil
        }
        #expect((previous.year, previous.month, previous.day) == (9999, 12, 31))
    }

    @Test("RFC 3339 is written as Foundation writes it, and read back")
    func rfc3339() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<3000 {
            let seconds = Int64(random.below(2_000_000_000)) * Int64(random.pick([-5, -1, 1, 4, 100]))
            let timestamp = Timestamp(seconds: seconds)
            let style = Date.ISO8601FormatStyle(timeZone: .gmt)
            #expect(timestamp.rfc3339 == Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(style))
            let fraction = Timestamp(microseconds: seconds * 1_000_000 + Int64(random.below(1_000_000)))
            for moment in [timestamp, fraction] { #expect(Timestamp(rfc3339: moment.rfc3339.utf8) == moment) }
        }
    }

    @Test(
        "RFC 3339 is read in all its forms",
        arguments: [
            ("2026-11-21T00:00:00Z", 0), ("2026-11-21t00:00:00z", 0), ("2026-11-21 00:00:00Z", 0),
            ("2026-11-21T01:00:00+01:00", 0), ("2026-11-20T19:30:00-04:30", 0), ("2026-11-21T00:00:00-00:00", 0),
            ("2026-11-21T00:00:00.5Z", 500_000), ("2026-11-21T00:00:00.123456789Z", 123_456),
            ("2026-11-21T00:00:00.000001Z", 1), ("2026-11-20T23:59:60Z", 0), ("2026-11-20T23:59:59.999999Z", -1),
        ])
    func forms(text: String, microseconds: Int64) {
        #expect(Timestamp(rfc3339: text.utf8)?.microseconds == TimeTests.start.microseconds + microseconds)
    }

    @Test(
        "Text that is not an RFC 3339 date and time is rejected",
        arguments: [
            "", "2026-11-21", "2026-11-21T00:00:00", "2026-11-21T00:00Z", "2026-11-21T24:00:00Z",
            "2026-11-21T00:60:00Z", "2026-11-21T00:00:61Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-11-00T00:00:00Z", "2026-11-21T00:00:00.Z", "2026-11-21T00:00:00+0100", "2026-11-21T00:00:00+24:00",
            "2026-11-21T00:00:00+01:60", "2026-11-21T00:00:00ZZ", " 2026-11-21T00:00:00Z", "26-11-21T00:00:00Z",
            "+2026-11-21T00:00:00Z", "2026-11-21X00:00:00Z", "2026-1-21T00:00:00Z", "2026-11-21T0:00:00Z",
            "2026-11-21T00:00:00,5Z", "٢٠٢٦-11-21T00:00:00Z",
        ])
    func refused(text: String) {
        #expect(Timestamp(rfc3339: text.utf8) == nil)
    }

    @Test(
        "RFC 3339 dates are read as moments",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01.5Z", 1_500_000), ("1969-12-31T23:59:59Z", -1_000_000),
            ("1985-04-12T23:20:50.52Z", 482_196_050_520_000), ("1996-12-19T16:39:57-08:00", 851_042_397_000_000),
            ("1990-12-31T23:59:60Z", 662_688_000_000_000), ("2000-02-29t00:00:00z", 951_782_400_000_000),
            ("2026-11-21T08:00:00.0000009Z", 1_795_248_000_000_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000_000), ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("", nil), ("2026-11-21", nil), ("2026-11-21T08:00:00", nil), ("2026-11-21T08:00Z", nil),
            ("2026-13-01T00:00:00Z", nil), ("2026-00-01T00:00:00Z", nil), ("2026-02-29T00:00:00Z", nil),
            ("1900-02-29T00:00:00Z", nil), ("2026-01-00T00:00:00Z", nil), ("2026-01-01T24:00:00Z", nil),
            ("2026-01-01T00:60:00Z", nil), ("2026-01-01T00:00:61Z", nil), ("2026-01-01T00:00:00.Z", nil),
            ("2026-01-01T00:00:00+24:00", nil), ("2026-01-01T00:00:00+0100", nil), ("2026-01-01T00:00:00Zx", nil),
            ("+026-01-01T00:00:00Z", nil), ("26-1-1T0:0:0Z", nil),
        ] as [(String, Int64?)])
    func moments(_ text: String, _ expected: Int64?) {
        #expect(Timestamp(rfc3339: text.utf8)?.microseconds == expected)
    }

    @Test("Every day from 1600 to 2400 has its own number")
    func everyDayInText() {
        var expected: Int64 = -11_676_096_000
        for year in 1600...2400 {
            for month in 1...12 {
                for day in 1...31 {
                    let text = String(format: "%04d-%02d-%02dT00:00:00Z", year, month, day)
                    guard let moment = Timestamp(rfc3339: text.utf8)?.microseconds else { continue }
                    if moment != expected * 1_000_000 { Issue.record("\(text) is not at \(expected)") }
                    expected += 86_400
                }
            }
        }
        #expect(expected == 13_601_088_000)
    }

    @Test("An HTTP date is written as servers write it, and read back by the cookie-date algorithm")
    func httpDates() {
        #expect(TimeTests.start.httpDate == "Sat, 21 Nov 2026 00:00:00 GMT")
        #expect(Timestamp(seconds: 784_111_777).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
        var random = SeededGenerator(seed: 9)
        for _ in 0..<5000 {
            let seconds = -11_644_473_600 + Int64(random.next() % 265_046_774_400)
            #expect(CookieDate.parse(Timestamp(seconds: seconds).httpDate) == Timestamp(seconds: seconds))
        }
    }

    @Test("Arithmetic stops at the ends of time")
    func saturation() {
        #expect(Timestamp.distantFuture.advanced(bySeconds: 1) == .distantFuture)
        #expect(Timestamp.distantPast.advanced(bySeconds: -1) == .distantPast)
        #expect(Timestamp.distantFuture.advanced(by: .microseconds(1)) == .distantFuture)
        #expect(Timestamp.distantPast.advanced(by: .seconds(Int64.min)) == .distantPast)
        #expect(Timestamp.epoch.advanced(by: .seconds(Int64.max)) == .distantFuture)
        #expect(Timestamp.epoch.advanced(by: .milliseconds(-1500)).microseconds == -1_500_000)
        #expect(Timestamp.epoch.advanced(by: .nanoseconds(999)) == .epoch)
        #expect(Timestamp.epoch.advanced(by: .milliseconds(5)) - .epoch == .milliseconds(5))
        #expect(Timestamp.distantPast.advanced(by: Timestamp.distantFuture - .distantPast) == .distantFuture)
        #expect(Timestamp(seconds: .max) == .distantFuture)
        #expect(Timestamp(seconds: .min) == .distantPast)
        #expect(Timestamp(microseconds: -1).seconds == -1)
        #expect(Timestamp.distantPast.rfc3339 == "0000-01-01T00:00:00Z")
        #expect(Timestamp.distantFuture.rfc3339 == "9999-12-31T23:59:59Z")
        #expect(Timestamp.distantPast.httpDate.hasSuffix("0000 00:00:00 GMT"))
    }
}
