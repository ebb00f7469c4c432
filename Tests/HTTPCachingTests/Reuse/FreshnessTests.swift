import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Freshness (section 4.2)")
struct FreshnessTests {
    private func freshness(_ fields: MessageFields, after seconds: Int64 = 0, status: Int = 200) throws -> Freshness {
        let stored = try Sample.stored(fields, status: status)
        return CachingPolicy().freshness(of: stored, now: Sample.after(seconds))
    }

    @Test(
        "The lifetime is that of max-age, or else of Expires, or else a tenth of the time since the last modification",
        arguments: [
            (["Cache-Control": "max-age=60"], 60, .maximumAge),
            (["Cache-Control": "max-age=60", "Expires": Sample.date(-9)], 60, .maximumAge),
            (["Cache-Control": "max-age=x", "Expires": Sample.date(99)], 0, .maximumAge),
            (["Cache-Control": "s-maxage=60", "Expires": Sample.date(99)], 99, .expires),
            (["Expires": Sample.date(99)], 99, .expires),
            (["Expires": Sample.date(99), "Date": Sample.date(-1)], 100, .expires),
            (["Expires": Sample.date(99), "Date": "x"], 99, .expires), (["Expires": Sample.date(-1)], 0, .expires),
            (["Expires": "0"], 0, .expires), (["Expires": "0", "Last-Modified": Sample.date(-100)], 0, .expires),
            (["Expires": Sample.date(99), "expires": Sample.date(99)], 0, .expires),
            (["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"], 1 << 31, .expires),
            (["Last-Modified": Sample.date(-1000)], 100, .heuristic),
            (["Last-Modified": Sample.date(-1000), "Cache-Control": "must-revalidate"], 100, .heuristic),
            (["Last-Modified": Sample.date(-86_400 * 365)], 7 * 86_400, .heuristic),
            (["Last-Modified": Sample.date(10)], 0, .heuristic), (["Last-Modified": "x"], 0, .none),
            (["Last-Modified": Sample.date(-1000), "Pragma": "no-cache"], 0, .none),
            (["Last-Modified": Sample.date(-1000), "Pragma": "no-cache", "Cache-Control": "public"], 100, .heuristic),
            ([:], 0, .none),
        ] as [(MessageFields, Int64, Freshness.Source)])
    func lifetimes(fields: MessageFields, lifetime: Int64, source: Freshness.Source) throws {
        let freshness = try freshness(fields)
        #expect(freshness.lifetime == lifetime && freshness.source == source)
    }

    @Test("Other statuses need an explicit permission for a heuristic lifetime")
    func heuristicStatus() throws {
        let modified: MessageFields.Field = .init("Last-Modified", Sample.date(-1000))
        for directive: Octets in ["public", "private"] {
            let fields = MessageFields([modified, .init("Cache-Control", directive)])
            #expect(try freshness(fields, status: 599).lifetime == 100)
        }
        #expect(try freshness(MessageFields([modified]), status: 404).lifetime == 100)
    }

    @Test(
        "The age begins with Age or Date, whichever is more, and grows with the time",
        arguments: [
            ([:], 0, 0), ([:], 5, 5), (["Age": "30"], 5, 35), (["Age": "30, 1"], 0, 30),
            (["Age": "1", "age": "30"], 0, 1),
            (["Age": "-1"], 0, 0), (["Age": "1.0"], 0, 0), (["Age": "x"], 2, 2), (["Age": "7;a=1"], 0, 0),
            (["Date": Sample.date(-40)], 2, 42), (["Date": Sample.date(-40), "Age": "30"], 2, 42),
            (["Date": Sample.date(40)], 2, 2), (["Age": "99999999999999999999"], 0, 1 << 31), ([:], -5, 0),
            // If the clock was set back, the age is unknown.
            ([:], -60, 0), ([:], -61, 1 << 32), (["Cache-Control": "max-age=99999999999"], -61, 1 << 32),
        ] as [(MessageFields, Int64, Int64)])
    func ages(fields: MessageFields, seconds: Int64, age: Int64) throws {
        #expect(try freshness(fields, after: seconds).age == age)
    }

    @Test("The time that the request took is part of the age")
    func delay() throws {
        let stored = CachedResponse(
            url: try RequestURL("https://shop.example/a"), status: 200, fields: ["Age": "10", "Date": Sample.date(7)],
            nominated: NominatedFields(), requestTime: Sample.start, responseTime: Sample.after(7),
            extent: .whole(length: 0))
        #expect(CachingPolicy().freshness(of: stored, now: Sample.after(9)).age == 10 + 7 + 2)
    }

    @Test("A response is fresh while its lifetime is greater than its age", arguments: [(59, true), (60, false)])
    func limit(seconds: Int64, isFresh: Bool) throws {
        let freshness = try freshness(["Cache-Control": "max-age=60"], after: seconds)
        #expect(freshness.isFresh == isFresh && freshness.timeToLive == 60 - seconds)
    }

    @Test("No time and no number overflows")
    func extremes() throws {
        let fields: MessageFields = [
            "Cache-Control": "max-age=9223372036854775807", "Age": "9223372036854775807",
            "Date": "Sun, 01 Jan 0000 00:00:00 GMT",
        ]
        for (first, last) in [(Timestamp.distantPast, Timestamp.distantFuture), (.distantFuture, .distantPast)] {
            let stored = CachedResponse(
                url: try RequestURL("https://shop.example/a"), status: 200, fields: fields,
                nominated: NominatedFields(),
                requestTime: first, responseTime: last, extent: .whole(length: nil))
            let ages = [first, last].map { CachingPolicy().freshness(of: stored, now: $0) }
            #expect(ages.map(\.age) == (first < last ? [1 << 32, 1 << 32] : [1 << 32, 1 << 31]))
            #expect(ages.allSatisfy { $0.lifetime == 1 << 31 && !$0.isFresh && $0.timeToLive <= 0 })
        }
    }
}
