import Testing

@testable import CookieModel

@Suite("Dates (section 5.1.1)")
struct CookieDateTests {
    @Test(
        "Day, month, year and time come in any order and company",
        arguments: [
            "Sat, 21 Nov 2026 08:30:15 GMT", "Saturday, 21-Nov-26 08:30:15 GMT", "Sat Nov 21 08:30:15 2026",
            "21 Nov 2026 08:30:15", "08:30:15 21 nov 2026", "2026 nov 21 08:30:15", "nov 21 2026 8:30:15",
            "21/nov/2026/08:30:15", "21\tNOVEMBER\t2026\t08:30:15 PST", "x 21 Novx 2026y 08:30:15z",
            "21nov nov 2026 08:30:15",
            "21 Nov 2026 08:30:15 22 Dec 2027", "21st nov 2026th 08:30:15.999",
            "(21) [nov] {2026} <08:30:15>", "21 Nov 2026é 08:30:15é", "Sat, 21 Nov 2026 08:30:15 +0500",
        ])
    func anyOrder(text: String) {
        #expect(CookieDate.parse(text)?.rfc3339 == "2026-11-21T08:30:15Z")
    }

    @Test(
        "With any one octet changed, removed or inserted, the algorithm decides",
        arguments: ["Sat, 21 Nov 2026 08:30:15 GMT", "Sat, 21-Nov-2026 08:30:15", "Mar, 01 Mar 1999 1:02:03 4"])
    func neighboursOfTheUsualForm(text: String) {
        let usual = Array(text.utf8)
        for index in usual.indices {
            for octet in UInt8.min...UInt8.max {
                var changed = usual
                changed[index] = octet
                var longer = usual
                longer.insert(octet, at: index)
                for date in [changed, longer, usual + [octet]] {
                    #expect(CookieDate.parse(date.span)?.seconds == TwinDate.parse(date).map(Int64.init), "\(date)")
                }
            }
            var shorter = usual
            shorter.remove(at: index)
            #expect(CookieDate.parse(shorter.span)?.seconds == TwinDate.parse(shorter).map(Int64.init), "\(shorter)")
        }
    }

    @Test(
        "A token is taken for the first field that it fits and that is still open",
        arguments: [
            ("21nov 22 nov 2026 08:30:15", "2022-11-21T08:30:15Z"),
            ("08:30:15 09:00:00 21 Nov 2026", "2021-11-09T08:30:15Z"),
            ("08:30:15 9 nov 09:00:00 2026", "2009-11-09T08:30:15Z"), ("10 11 nov 12 08:30:15", "2011-11-10T08:30:15Z"),
        ])
    func firstFit(text: String, moment: String) {
        #expect(CookieDate.parse(text)?.rfc3339 == moment)
    }

    @Test(
        "A date with a missing field, or one out of range, is invalid",
        arguments: [
            "", " ", "21 Nov 2026", "Nov 2026 08:30:15", "21 2026 08:30:15", "21 Nov 08:30:15", "21 Nov 2026 08:30",
            "0 Nov 2026 08:30:15", "32 Nov 2026 08:30:15", "31 Nov 2026 08:30:15", "29 Feb 2026 08:30:15",
            "21 Nov 2026 24:00:00", "21 Nov 2026 23:60:00", "21 Nov 2026 23:59:60", "21 Nov 1600 08:30:15",
            "21 Nov 20260 08:30:15", "121 Nov 2026 08:30:15", "21 Nov 2026 008:30:15", "21 Nov 2026 08:030:15",
            "21 Nov 2026 08:30:015", "21 Nov 2026 08::15", "21 Nov 2026 :30:15", "21 Nov 2026 08:30:",
            "21 Nov 2026 0:0:x",
            "21 No 2026 08:30:15", "21 Nóv 2026 08:30:15", "21 11 2026 08:30:15", "2026-11-21T08:30:15Z",
            "١ Nov 2026 0:0:0",
            "21 Nov 026x1 8-30-15",
        ])
    func noDate(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test(
        "Two digits of a year, or four with zeros in front, mean the years 1970 to 2069",
        arguments: [
            ("00", 2000), ("01", 2001), ("69", 2069), ("70", 1970), ("99", 1999), ("069", 2069), ("0070", 1970),
            ("0099", 1999), ("0000", 2000), ("1601", 1601), ("9999", 9999),
        ])
    func year(text: String, year: Int) throws {
        let date = try #require(CookieDate.parse("01 Jan \(text) 00:00:00"))
        #expect(CivilDate(secondsSinceEpoch: date.seconds).year == year)
    }

    @Test("Years of three digits that are no shorthand are before 1601", arguments: ["100", "999", "1600"])
    func early(text: String) {
        #expect(CookieDate.parse("01 Jan \(text) 00:00:00") == nil)
    }

    @Test("Exactly the delimiters of the grammar part two tokens")
    func delimiters() {
        for byte in UInt8.min...UInt8.max {
            let isDelimiter =
                byte == 0x09 || (0x20...0x2F).contains(byte) || (0x3B...0x40).contains(byte)
                || (0x5B...0x60).contains(byte) || (0x7B...0x7E).contains(byte)
            let date = Octets("21 Nov 2026") + [byte] + "08:30:15"
            #expect((date.withSpan { CookieDate.parse($0) } != nil) == isDelimiter, "0x\(String(byte, radix: 16))")
        }
    }

    @Test(
        "A leap day is there in leap years",
        arguments: [
            (1904, true), (2000, true), (2024, true), (2028, true), (1900, false), (2026, false), (2100, false),
            (2400, true),
        ])
    func leapDay(year: Int, exists: Bool) {
        #expect((CookieDate.parse("29 Feb \(year) 00:00:00") != nil) == exists)
    }

    @Test(
        "A month needs its first three letters",
        arguments: [
            ("jan", 1), ("FEB", 2), ("March", 3), ("aprx", 4), ("may", 5), ("juNe", 6), ("julius", 7), ("augé", 8),
            ("sept", 9), ("oct0", 10), ("nov:", 11), ("December", 12),
        ])
    func month(text: String, month: Int) throws {
        let date = try #require(CookieDate.parse("1 \(text) 2026 00:00:00"))
        #expect(CivilDate(secondsSinceEpoch: date.seconds).month == month)
    }
}
