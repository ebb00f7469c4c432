import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("HTTP dates")
struct HTTPDateTests {
    @Test(
        "The three forms, without regard to case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "SUN, 06 NOV 1994 08:49:37 gmt", "sunday, 06-nov-94 08:49:37 GMT", "sun nov  6 08:49:37 1994",
            // The day of the week is not compared.
            "Mon, 06 Nov 1994 08:49:37 GMT", "Sun Nov 06 08:49:37 1994",
        ])
    func forms(text: String) {
        #expect(HTTPDate.parse(Octets(text), now: Sample.start)?.seconds == 784_111_777)
    }

    @Test(
        "Every other text is no date",
        arguments: [
            "", "0", "-1", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
            "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 2050 02:01:18 GMT+1", "Thu, 18 Aug 50 02:01:18 GMT",
            "Thu 18 Aug 2050 02:01:18 GMT", "Thu, 18  Aug 2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 8 Aug 2050 02:01:18 GMT",
            "Thursday, 18 Aug 2050 02:01:18 GMT", "Thu, 18 August 2050 02:01:18 GMT", "18 Aug 2050 02:01:18 GMT",
            "Thu, 31 Feb 2050 02:01:18 GMT", "Thu, 00 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:00:00 GMT",
            "Thu, 18 Aug 2050 02:60:00 GMT", "Thu, 18 Aug 2050 02:00:61 GMT", "Xxx, 18 Aug 2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:18 GMT", "Sun Nov 6 08:49:37 1994",
        ])
    func invalid(text: String) {
        #expect(HTTPDate.parse(Octets(text), now: Sample.start) == nil)
    }

    @Test(
        "A year of two digits is at most 50 years in the future",
        arguments: [("26", 2026), ("50", 2050), ("76", 2076), ("77", 1977), ("99", 1999), ("00", 2000)])
    func centuries(digits: String, year: Int) {
        let date = HTTPDate.parse(Octets("Friday, 01-Jan-\(digits) 00:00:00 GMT"), now: Sample.start)
        #expect(date.map { CivilDate(secondsSinceEpoch: $0.seconds).year } == year)
    }

    @Test("A leap second is the second before")
    func leapSecond() {
        #expect(
            HTTPDate.parse("Sat, 31 Dec 2016 23:59:60 GMT", now: Sample.start)
                == HTTPDate.parse("Sat, 31 Dec 2016 23:59:59 GMT", now: Sample.start))
    }

    @Test("A written date reads the same", arguments: [0, 784_111_777, 951_782_400, 253_402_300_799, -62_135_596_800])
    func roundTrip(seconds: Int64) {
        let time = Timestamp(seconds: seconds)
        #expect(HTTPDate.parse(Octets(time.httpDate), now: Sample.start) == time)
    }
}
