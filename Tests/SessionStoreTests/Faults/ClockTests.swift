import CookieModel
import Testing

@testable import SessionStore

@Suite("A clock that goes backwards")
struct ClockTests {
    private let year: Int64 = 365 * 86400

    @Test("A clock that goes backwards loses nothing: cookies from later exist, are sent, and are replaced in place")
    func earlier() throws {
        let folder = TemporaryFolder()
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        try jar.receive("a=1; Path=/", "b=1; Path=/; Max-Age=100")
        let earlier = Given.now.advanced(bySeconds: -year)
        #expect(try jar.header(now: earlier) == "a=1; b=1")
        let decisions = try jar.receive("a=2; Path=/", "c=1; Path=/", now: earlier)
        #expect(decisions.map(\.outcome) == [.replaced, .stored])
        let reopened = try Given.database(folder.file("crumb.sqlite"), now: earlier).jar(now: earlier)
        #expect(try reopened.header(now: earlier) == "c=1; a=2; b=1")
        #expect(try reopened.header() == "c=1; a=2; b=1")
        let cookie = try #require(try reopened.cookies().readable.first { $0.name == "a" })
        #expect(cookie.creation == Given.now)
    }

    @Test("The journal's positions increase even if the clock goes backwards")
    func journal() throws {
        let jar = try Given.jar()
        for (index, seconds) in [0, -year, year, -2 * year, 5].enumerated() {
            try jar.receive("c\(index)=1", now: Given.now.advanced(bySeconds: seconds))
        }
        let changes = try jar.changes(after: 0).changes
        #expect(changes.map(\.position) == Array(1...5))
        #expect(changes.map(\.cookie.name) == ["c0", "c1", "c2", "c3", "c4"])
        #expect(changes.map(\.cause) == Array(repeating: .stored, count: 5))
    }

    @Test("Expired cookies are valid again after the clock was set back, whatever was written meanwhile")
    func expiredAgain() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/; Max-Age=100", "b=1; Path=/")
        let later = Given.now.advanced(bySeconds: 200)
        #expect(try jar.header(now: later) == "b=1")
        #expect(try jar.header() == "a=1; b=1")
        try jar.receive("c=1; Path=/", now: later)
        #expect(try jar.header() == "a=1; b=1; c=1")
    }
}
