import Testing

@testable import CookieModel

@Suite("Lifetimes (sections 5.5, 5.6.1 and 5.6.2, and 5.7, step 6)")
struct LifetimeTests {
    private static let limit: Int64 = 400 * 86_400

    /// The seconds that a cookie lives, `nil` for a session cookie, and what became of it.
    private func life(of attributes: Octets) throws -> (outcome: String, seconds: Int64?) {
        var session = Session()
        let outcome = try session.set("a=1" + attributes)
        return (outcome, session.store.cookies.first?.expiry.map { $0.seconds - Session.start.seconds })
    }

    @Test(
        "Max-Age is a number of seconds, 400 days at most",
        arguments: [
            ("1", 1), ("60", 60), ("007", 7), ("34560000", limit), ("34560001", limit), ("4294967296", limit),
            ("9223372036854775807", limit), ("9223372036854775808", limit), ("99999999999999999999999999999", limit),
            ("00000000000000000000000000000000005", 5),
        ] as [(Octets, Int64)])
    func maxAge(value: Octets, seconds: Int64) throws {
        #expect(try life(of: "; Max-Age=" + value) == ("stored", seconds))
    }

    @Test(
        "Zero and less is over at once",
        arguments: [
            "0", "-0", "-1", "-60", "000", "-99999999999999999999999", "-9223372036854775808",
        ] as [Octets])
    func over(value: Octets) throws {
        #expect(try life(of: "; Max-Age=" + value) == ("deleted", nil))
        #expect(try life(of: "; Max-Age=" + value + "; Expires=Fri, 01 Jan 2027 00:00:00 GMT") == ("deleted", nil))
    }

    @Test(
        "A lifetime that is not a number is ignored, and the session ends the cookie",
        arguments: [
            "", "x", "+1", "-", "--1", "- 1", "1.0", "1e3", "0x1", "1 000", "1s", "\"1\"", "١", "1-", "-+1", ".5",
        ] as [Octets])
    func noNumber(value: Octets) throws {
        #expect(try life(of: "; Max-Age=" + value) == ("stored", nil))
        #expect(try life(of: "; Expires=Sat, 21 Nov 2026 00:01:00 GMT; Max-Age=" + value) == ("stored", 60))
    }

    @Test(
        "Expires is a moment, at most 400 days ahead",
        arguments: [
            ("Sat, 21 Nov 2026 00:00:01 GMT", 1), ("Sat, 21 Nov 2026 00:00:00 GMT", 0),
            ("Sun, 26 Dec 2027 00:00:00 GMT", limit), ("Sun, 26 Dec 2027 00:00:01 GMT", limit),
            ("Sat, 25 Dec 2027 23:59:59 GMT", limit - 1), ("Fri, 31 Dec 9999 23:59:59 GMT", limit),
        ] as [(Octets, Int64)])
    func expires(value: Octets, seconds: Int64) throws {
        #expect(try life(of: "; Expires=" + value) == ("stored", seconds))
    }

    @Test(
        "An Expires in the past is over at once",
        arguments: [
            "Fri, 20 Nov 2026 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 1601 00:00:00 GMT",
            "Wed, 31 Dec 1969 23:59:59 GMT",
        ] as [Octets])
    func past(value: Octets) throws {
        #expect(try life(of: "; Expires=" + value) == ("deleted", nil))
        #expect(try life(of: "; Expires=" + value + "; Max-Age=60") == ("stored", 60))
        #expect(try life(of: "; Max-Age=60; Expires=" + value) == ("stored", 60))
    }

    @Test(
        "An expiry that is not a date is ignored",
        arguments: [
            "", "0", "-1", "session", "Fri, 31 Dec 1600 23:59:59 GMT", "Sun, 29 Feb 2027 00:00:00 GMT",
            "2027-01-01T00:00:00Z",
        ] as [Octets])
    func noDate(value: Octets) throws {
        #expect(try life(of: "; Expires=" + value) == ("stored", nil))
    }

    @Test("The limit is the policy's")
    func otherLimit() throws {
        var policy = CookiePolicy()
        policy.lifetimeLimit = 10
        var session = Session(policy)
        for line in ["a=1; Max-Age=11", "a=1; Max-Age=10", "a=1; Expires=Sat, 21 Nov 2026 00:00:11 GMT"] as [Octets] {
            try session.set(line)
            #expect(session.store.cookies.map(\.expiry) == [session.now.advanced(bySeconds: 10)])
        }
    }

    @Test("A cookie lives up to and with its last microsecond")
    func lastMoment() throws {
        var session = Session()
        try session.set("a=1; Max-Age=60")
        session.advance(bySeconds: 60)
        #expect(try session.sent() == "a=1")
        session.now.microseconds += 1
        #expect(try session.kept(from: "https://example.com/") == ["a: expired"])
        #expect(try session.sent() == "")
        #expect(session.store.count == 0)
    }

    @Test("The end of the session ends the cookies without a lifetime, and no others")
    func endOfSession() throws {
        var session = Session()
        for line in ["a=1", "b=2; Max-Age=60", "c=3; Expires=0", "d=4; Expires=1 Jan 2027 0:0:0", "e=5; Max-Age=x"]
            as [Octets]
        {
            #expect(try session.set(line) == "stored")
        }
        session.store.endSession()
        #expect(try session.sent() == "b=2; d=4")
    }

    @Test("A deletion takes the cookie of the same ID only")
    func deletion() throws {
        var session = Session()
        for line in ["a=1", "a=2; Path=/b", "a=3; Domain=example.com", "A=4"] as [Octets] { try session.set(line) }
        #expect(try session.set("a=; Max-Age=0") == "deleted")
        #expect(try session.sent(to: "https://example.com/b") == "a=2; a=3; A=4")
        #expect(try session.set("a=; Path=/b; Expires=Thu, 01 Jan 1970 00:00:00 GMT") == "deleted")
        #expect(try session.set("a=; Domain=example.com; Max-Age=-1") == "deleted")
        #expect(try session.set("a=; Domain=example.com; Max-Age=-1") == "deleted")
        #expect(try session.sent(to: "https://example.com/b") == "A=4")
    }
}
