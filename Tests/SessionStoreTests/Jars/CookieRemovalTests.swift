import CookieModel
import Testing

@testable import SessionStore

@Suite("Removing cookies by hand")
struct CookieRemovalTests {
    private func removed(_ change: (inout CookieFilter) throws -> Void) throws -> (gone: [String], left: [String]) {
        let database = try Given.database()
        let jar = try database.jar(now: Given.now)
        try jar.receive(
            "a=1; Path=/", "a=2; Path=/x", "a=3; Path=/; Domain=example.com", "b=4; Path=/; Secure; HttpOnly",
            "gone=5; Path=/; Max-Age=1")
        try jar.receive("a=6; Path=/", from: "https://other.example/")
        try database.jar(named: "other", now: Given.now).receive("a=7; Path=/")
        var filter = CookieFilter()
        try change(&filter)
        let now = Given.now.advanced(bySeconds: 5)
        let removed = try jar.removeCookies(filter, now: now)
        #expect(removed.allSatisfy { $0.value.isEmpty })
        #expect(try database.present("other").pairs() == ["a=7"])
        let left = try jar.contents().filter { !$0.isExpired(at: now) }
        return (removed.map { "\($0.name) \($0.domain)\($0.path)" }, left.map(\.pair.description))
    }

    @Test("Each condition narrows the removal; without conditions, all cookies are removed")
    func conditions() throws {
        let name = try removed { $0.name = "a" }
        #expect(name.gone.count == 4 && name.left == ["b=4"])
        let domain = try removed { $0.domain = WebHost("www.example.com") }
        #expect(domain.gone.count == 3 && domain.left == ["a=3", "a=6"])
        let below = try removed { $0.domain = WebHost("example.com") }
        #expect(below.gone.count == 4 && below.left == ["a=6"])
        let path = try removed { $0.path = "/x" }
        #expect(path.gone == ["a www.example.com/x"] && path.left == ["a=1", "a=3", "b=4", "a=6"])
        let both = try removed {
            $0.name = "a"
            $0.domain = WebHost("other.example")
        }
        #expect(both.gone == ["a other.example/"])
        #expect(try removed { $0.name = "x" }.gone.isEmpty)
        #expect(try removed { _ in }.left.isEmpty)
    }

    @Test("A removal by request selects the cookies that the request carries, whatever the jar's limit on requests")
    func request() throws {
        let secure = try removed { $0.request = try Given.context("https://www.example.com/") }
        #expect(secure.gone.count == 3 && secure.left == ["a=2", "a=6"])
        let insecure = try removed { $0.request = try Given.context("http://www.example.com/x") }
        #expect(insecure.gone.count == 3 && insecure.left == ["b=4", "a=6"])
        var policy = CookiePolicy()
        policy.limits.requestCookies = 1
        let jar = try Given.database().jar(policy: policy, now: Given.now)
        try jar.receive("a=1; Path=/", "b=1; Path=/")
        var filter = CookieFilter()
        filter.request = try Given.context()
        #expect(try jar.removeCookies(filter, now: Given.now).count == 2)
    }

    @Test("A cookie that cannot be read can be removed")
    func damaged() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/")
        try jar.database.execute("UPDATE cookie SET secure = 1")
        #expect(try jar.cookies().unreadable.count == 1)
        var filter = CookieFilter()
        filter.request = try Given.context()
        #expect(try jar.removeCookies(filter, now: Given.now).map(\.name) == ["a"])
        #expect(try jar.cookies().unreadable.isEmpty)
    }
}
