import CookieModel
import Testing

@testable import Captures

@Suite("Tables copied from developer tools")
struct CookieTableTests {
    private static let chromium =
        "sid\t31d4\t.a.test\t/\t2027-05-01T00:00:00.500Z\t7\t✓\t✓\tNone\t\t\tMedium\n"
        + "t\t\tb.test\t/x\tSession\t1\t\t\t\thttps://c.test\t✓\tMedium\n"
    private static let firefox =
        "Name\tValue\tDomain\tPath\tExpires / Max-Age\tSize\tHttpOnly\tSecure\tSameSite\tLast Accessed\r\n"
        + "sid\t31d4\t.a.test\t/\tSat, 01 May 2027 00:00:00 GMT\t7\ttrue\tfalse\tLax\tThu, 26 Nov 2026 08:00:00 GMT\r\n"

    @Test("A row of Chromium's table gives every attribute")
    func chromiumRows() {
        let capture = Capture(Self.chromium)
        #expect(capture.summary == ["cookie sid=31d4", "cookie t="])
        #expect(capture.reader(atEndOf: capture.bytes).format == .cookieTable)
        var expected = [
            CookieRecord(
                name: "sid", value: "31d4", domain: "a.test", isHostOnly: false, path: "/", isSecure: true,
                isHTTPOnly: true, sameSite: SameSite.none, expiry: Timestamp(microseconds: 1_809_129_600_500_000)),
            CookieRecord(
                name: "t", value: "", domain: "b.test", isHostOnly: true, path: "/x", isSecure: false,
                isHTTPOnly: false),
        ]
        expected[1].partitionKey = PartitionKey(topLevelSite: "https://c.test", hasCrossSiteAncestor: true)
        #expect(capture.cookies == expected)
        guard case .cookie(let record, let place)? = capture.items.last else {
            Issue.record("no cookie")
            return
        }
        #expect(record.unstated.isSuperset(of: [.secure, .httpOnly, .sameSite]))
        #expect(place == CapturePlace(source: "x", line: 2))
    }

    @Test("A heading names the columns, and flags are words in Firefox")
    func heading() {
        let expected = CookieRecord(
            name: "sid", value: "31d4", domain: "a.test", isHostOnly: false, path: "/", isSecure: false,
            isHTTPOnly: true, sameSite: .lax, expiry: Timestamp(seconds: 1_809_129_600))
        #expect(Capture(Self.firefox).cookies == [expected])
        let other = "Domain\tSecure\tName\tValue\n.a.test\ttrue\tn\tv\n"
        #expect(Capture(other).cookies.map(\.isSecure) == [true])
        #expect(Capture(other).summary == ["cookie n=v"])
    }

    @Test(
        "A table row that is not a cookie is a failure, and loses only that row",
        arguments: [
            ("n\tv", "domain"), ("n\tv\ta.test\tx\tSession", "slash"), ("n\tv\ta.test\t/\tsoon", "expiry"),
            ("n\tv\t.\t/", "domain"),
        ])
    func malformed(row: String, word: String) {
        let capture = Capture(Self.chromium + row + "\n\n" + Self.chromium)
        #expect(capture.failures.map(\.place.line) == [3] && capture.cookies.count == 4)
        #expect(capture.failures.allSatisfy { $0.message.contains(word) })
    }

    @Test("A table is read the same in pieces of any size")
    func pieces() {
        for text in [Self.chromium, Self.firefox] {
            let capture = Capture(text)
            for position in 0...capture.bytes.count { #expect(capture.items(cutAt: [position]) == capture.items) }
        }
    }
}
