import TestSupport
import Testing

@testable import CookieModel

@Suite("The order of cookies (section 5.8.3, step 4)")
struct OrderTests {
    @Test("Longer paths go first, whichever cookie came first")
    func longerPaths() throws {
        var session = Session()
        for line in ["a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x", "d=4; Path=/x/", "e=5; Path=/x/y/"] as [Octets] {
            try session.set(line)
        }
        #expect(try session.sent(to: "https://example.com/x/y/z") == "e=5; b=2; d=4; c=3; a=1")
    }

    @Test("The length of a path is its octets, not its segments")
    func octets() throws {
        var session = Session()
        try session.set("a=1; Path=/b/c")
        try session.set("b=2; Path=/b/c/")
        #expect(try session.sent(to: "https://example.com/b/c/d") == "b=2; a=1")
    }

    @Test("Of equal paths the earlier creation goes first, to the microsecond, and then the earlier line")
    func creation() throws {
        var session = Session()
        try session.set("c=1")
        try session.set("b=2")
        session.now.microseconds += 1
        try session.set("a=3")
        session.now.microseconds -= 2
        try session.set("d=4")
        session.advance(bySeconds: 1)
        #expect(try session.sent() == "d=4; c=1; b=2; a=3")
    }

    @Test("Replacing a cookie does not move it, deleting it does")
    func replacing() throws {
        var session = Session()
        for line in ["a=1", "b=2", "c=3"] as [Octets] { try session.set(line) }
        session.advance(bySeconds: 5)
        try session.set("a=4; Max-Age=60; HttpOnly")
        #expect(try session.sent() == "a=4; b=2; c=3")
        try session.set("a=; Max-Age=0")
        try session.set("a=5")
        #expect(try session.sent() == "b=2; c=3; a=5")
    }

    @Test("Host-only and domain cookies, Secure ones and others are in one order")
    func oneRow() throws {
        var session = Session()
        try session.set("a=1; Domain=example.com", at: "https://www.example.com/")
        try session.set("b=2", at: "https://www.example.com/")
        try session.set("c=3; Domain=example.com; Secure")
        try session.set("a=4", at: "https://www.example.com/")
        #expect(try session.sent(to: "https://www.example.com/") == "a=1; b=2; c=3; a=4")
    }

    @Test("The order is total and does not depend on how the cookies lie, in or out")
    func permutations() throws {
        var random = SeededGenerator(seed: 1)
        let context = try Request("https://example.com/x/y/").context
        for _ in 0..<200 {
            var session = Session()
            for _ in 0..<12 {
                session.now.microseconds += Int64(random.below(2))
                let path = random.pick(["/", "/x", "/x/", "/x/y", "/z"])
                try session.set(Octets("\(random.pick(["a", "b", "c", "d"]))=\(random.below(9)); Path=\(path)"))
            }
            let cookies = session.store.cookies
            let expected = session.store.policy.retrieval(
                from: cookies, for: context, now: session.now, opening: \.value)
            for left in cookies {
                #expect(!left.precedes(left))
                for right in cookies where left != right { #expect(left.precedes(right) != right.precedes(left)) }
            }
            for _ in 0..<5 {
                let shuffled = session.store.policy.retrieval(
                    from: cookies.shuffled(using: &random), for: context, now: session.now, opening: \.value)
                #expect(shuffled.included == expected.included)
                #expect(shuffled.excluded.map(\.cookie) == expected.excluded.map(\.cookie))
            }
        }
    }
}
