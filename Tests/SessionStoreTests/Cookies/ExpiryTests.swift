import CookieModel
import Testing

@testable import SessionStore

@Suite("Expiry and access times")
struct ExpiryTests {
    private func rows(_ jar: CookieJar) throws -> Int64 {
        try jar.database.number("SELECT count(*) FROM cookie")
    }

    @Test("An expired cookie is not sent, from the moment after its expiry on")
    func moment() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Max-Age=100")
        let expiry = Given.now.advanced(bySeconds: 100)
        #expect(try jar.header(now: expiry) == "a=1")
        let after = Timestamp(microseconds: expiry.microseconds + 1)
        #expect(try jar.header(now: after) == "")
        let retrieval = try jar.retrieve(for: try Given.context(), now: after)
        #expect(retrieval.excluded.map(\.reasons) == [[.expired]])
    }

    @Test("A write to a site removes its expired rows once the clock is confirmed, and no others")
    func rowsGo() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Max-Age=10", "b=2")
        try jar.receive("c=3; Max-Age=10", from: "https://other.example/")
        let later = Given.now.advanced(bySeconds: 11)
        #expect(try rows(jar) == 3)
        try jar.receive("d=4", now: later)
        #expect(try rows(jar) == 4)
        #expect(try jar.header(now: later) == "b=2; d=4")
        // Rows that wait are looked at with the next cookie of the site that expires, or when the site is read anew.
        for hours in [9, 18, 27] as [Int64] {
            try jar.receive("h\(hours)=1; Max-Age=1", now: later.advanced(bySeconds: hours * 3600))
        }
        let end = later.advanced(bySeconds: 36 * 3600)
        try jar.receive("f=6", now: end)
        #expect(try jar.database.number("SELECT count(*) FROM cookie WHERE name = x'61'") == 0)
        #expect(try jar.database.number("SELECT count(*) FROM cookie WHERE name = x'63'") == 1)
        try jar.receive("e=5", from: "https://other.example/", now: end)
        #expect(try jar.database.number("SELECT count(*) FROM cookie WHERE name = x'63'") == 0)
        #expect(try jar.header("https://other.example/", now: end) == "e=5")
    }

    @Test("A cookie that expires at this moment is not removed with expired ones")
    func sweptAtTheMoment() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Max-Age=10; Path=/", "b=2; Max-Age=9; Path=/")
        let moment = Given.now.advanced(bySeconds: 10)
        try jar.receive("c=3; Path=/", now: moment)
        #expect(try rows(jar) == 3)
        #expect(try jar.header(now: moment) == "a=1; c=3")
    }

    @Test("A cookie that replaces an expired one is a new cookie")
    func setAnew() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Max-Age=10; Path=/", "b=2; Path=/")
        let later = Given.now.advanced(bySeconds: 11)
        let decision = try #require(try jar.receive("a=3; Path=/", now: later).first)
        #expect(decision.outcome == .stored && decision.previous == nil)
        #expect(try jar.header(now: later) == "b=2; a=3")
    }

    @Test("An expired Secure cookie keeps no insecure one out, on its own site or above it")
    func expiredSecure() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Secure; Max-Age=10; Path=/")
        let later = Given.now.advanced(bySeconds: 11)
        #expect(try jar.receive("a=2; Path=/", from: "http://www.example.com/").map(\.outcome) == [.rejected])
        #expect(try jar.receive("a=2; Path=/", from: "http://www.example.com/", now: later).map(\.outcome) == [.stored])
    }

    @Test("A cookie of an old capture that has expired since deletes the one that it would have replaced")
    func oldCapture() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/", "b=2; Path=/")
        let old = Given.now.advanced(bySeconds: -1000)
        let response = ReceivedResponse(
            context: try Given.context(),
            setCookie: ["a=0; Path=/; Max-Age=10", "n=0; Path=/; Max-Age=10", "k=1; Path=/; Max-Age=2000"])
        let decisions = try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            try batch.receive(response, at: old)
        }.result
        #expect(decisions.map(\.outcome) == [.deleted, .deleted, .stored])
        #expect(try jar.header() == "k=1; b=2")
        #expect(try rows(jar) == 2)
    }

    @Test("Lifetimes are capped at 400 days, from the time of the response")
    func cap() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Max-Age=99999999999", "b=2; Expires=Fri, 31 Dec 9999 23:59:59 GMT")
        let latest = Given.now.advanced(bySeconds: 400 * 86400)
        #expect(try jar.cookies().readable.map(\.expiry) == [latest, latest])
    }

    @Test("A cookie's access time is written once an hour, not at every read")
    func granularity() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/", "b=2; Path=/other")
        func access(_ name: String) throws -> Int64 {
            try jar.database.number("SELECT last_access_at FROM cookie WHERE name = \(Given.octets(name))")
                - Given.now.microseconds
        }
        for (seconds, expected) in [(1, 0), (3600, 0), (3601, 3601), (7200, 3601), (7201, 3601), (7202, 7202)] {
            _ = try jar.header(now: Given.now.advanced(bySeconds: Int64(seconds)))
            #expect(try access("a") == Int64(expected) * 1_000_000, "after \(seconds) seconds")
        }
        #expect(try access("b") == 0)
    }

    @Test("A clock that goes backwards harms nothing")
    func backwards() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/; Max-Age=100")
        let earlier = Given.now.advanced(bySeconds: -1_000_000)
        #expect(try jar.header(now: earlier) == "a=1")
        #expect(
            try jar.receive("a=2; Path=/; Max-Age=100", "b=3; Path=/", now: earlier).map(\.outcome) == [
                .replaced, .stored,
            ])
        #expect(try jar.header(now: earlier) == "b=3; a=2")
    }
}
