import CookieModel
import Testing

@testable import SessionStore

@Suite("A clock that jumps ahead and back")
struct ClockJumpTests {
    private static let years: Int64 = 10 * 365 * 86_400
    private static let hour: Int64 = 3600

    private let folder = TemporaryFolder()

    private static func at(_ seconds: Int64) -> Timestamp { Given.now.advanced(bySeconds: seconds) }

    /// What a process does with the jar while the clock is wrong.
    enum Deed: CaseIterable {
        case prune, receive, endSession, merge, restore, nothing

        func perform(_ jar: CookieJar, at now: Timestamp) throws {
            let database = jar.database
            switch self {
            case .prune: for _ in 0..<3 { _ = try database.prune(vacuum: .always, now: now) }
            case .receive: try jar.receive("x=1; Path=/; Max-Age=1", now: now)
            case .endSession: try jar.endSession(now: now)
            case .merge:
                let other = try database.jar(named: "other", now: now)
                try other.receive("y=1; Path=/; Max-Age=1", now: now)
                _ = try database.mergeJar(named: "other", into: jar.name, now: now)
            case .restore: _ = try jar.restoreSession(named: "saved", now: now)
            case .nothing: _ = try jar.header(now: now)
            }
        }
    }

    @Test("A clock jump loses no cookie, whatever one or several processes do meanwhile", arguments: Deed.allCases)
    func survives(_ deed: Deed) throws {
        let path = folder.file("crumb.sqlite")
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/; Max-Age=2592000", "b=2; Path=/; Max-Age=7200")
        try FullDatabase.saveSession("saved", of: jar)
        for step in 0...6 {
            // Those ten years, an hour long, by this process and by a new one.
            let now = ClockJumpTests.at(ClockJumpTests.years + Int64(step) * 600)
            #expect(try jar.header(now: now) == "")
            try deed.perform(jar, at: now)
            try deed.perform(try Given.jar(path), at: now)
        }
        let back = ClockJumpTests.at(ClockJumpTests.hour)
        #expect(try Given.jar(path).header(now: back).hasPrefix("a=1; b=2"))
        #expect(try jar.header(now: back).hasPrefix("a=1; b=2"))
        try jar.receive("c=3; Path=/", now: back)
        let names = try jar.header(now: back).split(separator: "; ").filter { !"xy".contains($0.first ?? " ") }
        #expect(names == ["a=1", "b=2", "c=3"])
        #expect(try jar.receive("a=4; Path=/", now: back).map(\.outcome) == [.replaced])
        #expect(try jar.database.check().findings.isEmpty)
    }

    @Test("A cookie that a server sets or deletes during a clock jump stays set or deleted")
    func serverCounts() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/; Max-Age=86400", "b=2; Path=/; Max-Age=86400", "c=3; Path=/; Max-Age=86400")
        let ahead = ClockJumpTests.at(ClockJumpTests.years)
        let decisions = try jar.receive("a=new; Path=/", "b=; Path=/; Max-Age=0", now: ahead)
        #expect(decisions.map(\.outcome) == [.stored, .deleted])
        #expect(try jar.header(now: ahead) == "a=new")
        #expect(try jar.header() == "c=3; a=new" || jar.header() == "a=new; c=3")
        #expect(try jar.changes(after: 3).changes.map(\.cause) == [.stored, .deleted])
        #expect(try jar.database.number("SELECT count(*) FROM cookie") == 2)
    }

    @Test("Expired cookies evict no live ones, and become valid again within the limits")
    func limits() throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 5
        policy.limits.totalCookies = 8
        let jar = try Given.database().jar(policy: policy, now: Given.now)
        for number in 0..<5 { try jar.receive("old\(number)=1; Path=/; Max-Age=86400") }
        let ahead = ClockJumpTests.at(ClockJumpTests.years)
        var evicted = 0
        for number in 0..<5 { evicted += try jar.receive("new\(number)=1; Path=/", now: ahead)[0].evicted.count }
        evicted += try jar.receive("other=1", from: "https://other.example/", now: ahead)[0].evicted.count
        #expect(evicted == 0)
        #expect(try jar.header(now: ahead).split(separator: "; ").count == 5)
        #expect(try jar.header().split(separator: "; ").count == 10)
        let decision = try jar.receive("one=1; Path=/", now: ClockJumpTests.at(60))
        #expect(decision[0].evicted.count == 6)
    }

    @Test("Short-lived cookies under ever new names take limited space, and evict no long-lived ones")
    func bounded() throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 10
        let jar = try Given.database().jar(policy: policy, now: Given.now)
        for number in 0..<5 { try jar.receive("long\(number)=1; Path=/; Max-Age=86400") }
        let ahead = ClockJumpTests.at(ClockJumpTests.years)
        for round in 0..<200 as Range<Int64> {
            try jar.receive("s\(round)=1; Path=/; Max-Age=1", now: ahead.advanced(bySeconds: round * 2))
            #expect(try jar.database.number("SELECT count(*) FROM cookie") <= 21)
        }
        #expect(try jar.header().contains("long0=1; long1=1; long2=1; long3=1; long4=1"))
    }

    @Test("In a jar with a total limit, expired cookies have a separate limit of the same size")
    func boundedTotal() throws {
        var policy = CookiePolicy()
        policy.limits.totalCookies = 10
        let jar = try Given.database().jar(policy: policy, now: Given.now)
        try jar.receive("long=1; Path=/; Max-Age=86400")
        let ahead = ClockJumpTests.at(ClockJumpTests.years)
        for round in 0..<60 as Range<Int64> {
            let now = ahead.advanced(bySeconds: round * 2)
            try jar.receive("s=1; Path=/; Max-Age=1", from: "https://s\(round).example/", now: now)
        }
        #expect(try jar.database.number("SELECT count(*) FROM cookie") <= 21)
        #expect(try jar.header() == "long=1")
    }

    /// Sightings of the clock in hours, and how far it is confirmed after the last of them.
    private static let sightings: [(hours: [Int64], confirmed: Int64?)] = [
        ([0], nil), ([0, 8, 16, 23], nil), ([0, 8, 16, 24], 0), ([0, 6, 12, 18, 24], 0),
        // A long step counts for eight hours, so that it takes three of them.
        ([0, 1000], nil), ([0, 1000, 2000], nil), ([0, 1000, 2000, 3000], 0),
        ([0, 8, 16, 24, 32, 40, 47], 0), ([0, 8, 16, 24, 32, 40, 48], 24),
        // Ten years ahead for an hour, and back.
        ([0, 87_600, 87_601, 1], nil), ([0, 87_600, 87_601, 1, 9, 17, 25], 0), ([87_600, 1, 9, 17, 24], nil),
        ([87_600, 1, 9, 17, 25], 1),
        // What was confirmed by a clock that was wrong for days holds no longer than that clock.
        ([1000, 1008, 1016, 1024, 0], 0), ([1000, 1008, 1016, 1024, 0, 8, 16, 24], 0),
    ]

    @Test("A time is confirmed after the clock has run for a day", arguments: sightings.indices)
    func confirms(_ index: Int) {
        let (hours, confirmed) = ClockJumpTests.sightings[index]
        var clock = ConfirmedClock(now: ClockJumpTests.at(hours[0] * ClockJumpTests.hour))
        for hour in hours { clock.see(ClockJumpTests.at(hour * ClockJumpTests.hour)) }
        #expect(clock.confirmed == confirmed.map { ClockJumpTests.at($0 * ClockJumpTests.hour) })
    }

    @Test("The earliest and latest times cause no overflow")
    func extremes() {
        var clock = ConfirmedClock(now: Timestamp(microseconds: .min))
        for time in [Int64.max, .min, .max, 0] { clock.see(Timestamp(microseconds: time)) }
        #expect(clock.confirmed == nil)
    }
}
