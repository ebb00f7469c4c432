import CookieModel
import Testing

@testable import SessionStore

@Suite("Persistence of a jar")
struct PersistenceTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    @Test("Everything in a jar survives a restart, even session cookies")
    func restart() throws {
        let lines = [
            "session=1; Path=/", "persistent=2; Max-Age=1000; Path=/", "bytes=\u{FF}é\"; Path=/", "=nameless",
            "secure=3; Secure; HttpOnly; SameSite=Strict; Path=/", "domain=4; Domain=example.com; Path=/",
            "part=5; Secure; Partitioned; Path=/; SameSite=None", "deep=6; Path=/a/b",
        ]
        var before: [Cookie] = []
        do {
            let jar = try Given.jar(path)
            for line in lines { try jar.receive(line) }
            before = try jar.cookies().readable
        }
        #expect(before.count == lines.count)
        let jar = try Given.jar(path)
        #expect(try jar.cookies().readable == before)
        #expect(
            try jar.header("https://www.example.com/a/b/c")
                == "deep=6; session=1; persistent=2; bytes=\u{FF}é\"; nameless; secure=3; domain=4; part=5")
    }

    @Test("Octets of a cookie that are not text are restored byte for byte")
    func octets() throws {
        let all = (0x21...0xFF).map { UInt8($0) }.filter { ![0x3B, 0x3D, 0x7F].contains($0) }
        let line = Octets(all + [0x3D] + all.reversed())
        do {
            let decisions = try Given.jar(path).receive(
                ReceivedResponse(context: try Given.context(), setCookie: [line]), now: Given.now)
            #expect(decisions.map(\.outcome) == [.stored])
        }
        let retrieval = try Given.jar(path).retrieve(for: try Given.context(), now: Given.now)
        #expect(retrieval.cookieString == line)
    }

    @Test("A write is seen at once by every other connection")
    func secondConnection() throws {
        let (left, right) = (try Given.jar(path), try Given.jar(path))
        for number in 0..<50 {
            try left.receive("n=\(number)")
            #expect(try right.header() == "n=\(number)")
            try right.receive("n=; Max-Age=0")
            #expect(try left.header() == "")
        }
    }

    @Test("A replaced cookie keeps its creation and position, and gets everything else from the new line")
    func replacement() throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/", "b=2; Path=/")
        let later = Given.now.advanced(bySeconds: 60)
        let decisions = try jar.receive(
            "a=3; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=9", "c=4; Path=/", now: later)
        #expect(decisions.map(\.outcome) == [.replaced, .stored])
        #expect(decisions.first?.previous?.creation == Given.now)
        #expect(try jar.header(now: later) == "a=3; b=2; c=4")
        let cookie = try #require(try Given.jar(path).cookies().readable.first { $0.name == "a" })
        #expect(cookie.creation == Given.now && cookie.lastAccess == later)
        #expect(cookie.isSecure && cookie.isHTTPOnly && cookie.sameSite == .lax)
        #expect(cookie.expiry == later.advanced(bySeconds: 9))
    }

    @Test("A cookie that was deleted and set again is a new one, in the last position")
    func deletedAndSetAgain() throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/", "b=2; Path=/")
        try jar.receive("a=; Path=/; Max-Age=0", "a=3; Path=/")
        #expect(try jar.header() == "b=2; a=3")
    }

    @Test("Cookies that differ in one part of their identity coexist")
    func identity() throws {
        let jar = try Given.jar(path)
        let lines = [
            "a=1; Path=/", "A=2; Path=/", "a=3; Path=/x", "a=4; Path=/; Domain=example.com",
            "a=5; Path=/; Domain=www.example.com", "a=6; Path=/; Secure; Partitioned",
        ]
        for line in lines { #expect(try jar.receive(line).map(\.outcome) == [.stored], "\(line)") }
        #expect(try jar.header("https://www.example.com/x") == "a=3; a=1; A=2; a=4; a=5; a=6")
    }

    @Test("A jar lists its cookies site by site, in the order of their creation")
    func listed() throws {
        let jar = try Given.jar(path)
        for (name, host) in [("z", "b.example"), ("y", "www.a.example"), ("x", "b.example"), ("w", "a.example")] {
            try jar.receive("\(name)=1", from: "https://\(host)/")
        }
        #expect(try jar.cookies().readable.map(\.name) == ["y", "w", "z", "x"])
    }

    @Test("A request's cookies are sorted by length of path, then by creation, then by position in the response")
    func order() throws {
        let jar = try Given.jar(path)
        let later = Given.now.advanced(bySeconds: 1)
        try jar.receive("z=1; Path=/", "y=2; Path=/a", now: later)
        try jar.receive("x=3; Path=/", "w=4; Path=/a")
        #expect(try jar.header("https://www.example.com/a", now: later) == "w=4; y=2; x=3; z=1")
    }
}
