import CookieModel
import Testing

@testable import SessionStore

@Suite("Rejected cookies")
struct CookieRejectionTests {
    private let folder = TemporaryFolder()

    private func jar(_ name: String = "default") throws -> CookieJar {
        try Given.database(folder.file("crumb.sqlite")).jar(named: name, now: Given.now)
    }

    private func later(_ seconds: Int64) -> Timestamp { Given.now.advanced(bySeconds: seconds) }

    /// Each rejection of a site, the latest first, as `name from host: reasons`.
    private func rejections(_ jar: CookieJar, of site: String = "example.com") throws -> [String] {
        try jar.rejections(site: Octets(site)).map { "\($0.name) from \($0.host): \($0.reasons)" }
    }

    private func count(_ jar: CookieJar) throws -> Int64 {
        try jar.database.number("SELECT count(*) FROM rejected_cookie WHERE jar_id = \(jar.id)")
    }

    @Test("A jar keeps the newest rejection of each name and host, with its reasons and without a value")
    func newest() throws {
        let jar = try jar()
        try jar.receive("sid=secret; Domain=other.example", "fine=1; Path=/")
        try jar.receive("sid=secret; SameSite=None", from: "https://login.example.com/", now: later(1))
        try jar.receive("sid=secret; SameSite=None; Domain=other.example", now: later(2))
        try jar.receive("theirs=secret; SameSite=None", from: "https://shop.test/", now: later(2))
        let expected = [
            "sid from www.example.com: domain-mismatch, same-site-none-insecure",
            "sid from login.example.com: same-site-none-insecure",
        ]
        #expect(try rejections(jar) == expected)
        #expect(try jar.rejections(site: "example.com").map(\.time) == [later(2), later(1)])
        #expect(try rejections(self.jar()) == expected)
        #expect(try rejections(jar, of: "shop.test") == ["theirs from shop.test: same-site-none-insecure"])
        #expect(try rejections(self.jar("other")).isEmpty)
        #expect(try jar.header() == "fine=1")
    }

    @Test("The rejection of an unreadable line has no name, and a long name is cut")
    func names() throws {
        let jar = try jar()
        let name = String(repeating: "n", count: 1000)
        try jar.receive("control=\u{1}", "\(name)=1; SameSite=None")
        let expected = [
            " from www.example.com: control-character",
            "\(name.prefix(256)) from www.example.com: same-site-none-insecure",
        ]
        let found = try rejections(jar).sorted()
        #expect(found == expected)
    }

    @Test("A rejection that is repeated within a minute is not recorded; a later one is the newest")
    func repeated() throws {
        let jar = try jar()
        func time() throws -> Timestamp? { try jar.rejections(site: "example.com").first?.time }
        try jar.receive("sid=1; SameSite=None")
        try jar.receive("sid=2; SameSite=None", now: later(59))
        #expect(try time() == Given.now)
        try jar.receive("sid=3; SameSite=None", now: later(60))
        #expect(try time() == later(60))
        try jar.receive("sid=4; Domain=other.example", now: later(61))
        #expect(try time() == later(61) && count(jar) == 1)
    }

    @Test("A jar keeps the newest hundred rejections, whether they come one by one or at once")
    func bounded() throws {
        for (name, isBatch) in [("single", false), ("batch", true)] {
            let jar = try jar(name)
            let (context, numbers) = (try Given.context(), 0..<230)
            if isBatch {
                try jar.withBatch(now: later(1000)) { batch throws(SessionStoreError) in
                    for number in numbers {
                        let response = ReceivedResponse(
                            context: context, setCookie: [Octets("c\(number)=1; SameSite=None")])
                        try batch.receive(response, at: later(Int64(number)))
                    }
                }
            } else {
                for number in numbers { try jar.receive("c\(number)=1; SameSite=None", now: later(Int64(number))) }
            }
            let names = try jar.rejections(site: "example.com").map(\.name.description)
            #expect(names == (130..<230).reversed().map { "c\($0)" }, "\(name)")
        }
    }

    @Test("A capture's rejections have the time of their responses, never a later one than now")
    func captured() throws {
        let jar = try jar()
        let context = try Given.context()
        func receive(_ line: Octets, at time: Timestamp) throws {
            let capture = try jar.beginCapture(named: "a.har", now: Given.now)
            try jar.withBatch(from: capture, now: Given.now) { batch throws(SessionStoreError) in
                try batch.receive(ReceivedResponse(context: context, setCookie: [line]), at: time)
            }
        }
        try receive("sid=1; SameSite=None", at: later(500))
        #expect(try jar.rejections(site: "example.com").map(\.time) == [Given.now])
        try receive("sid=1; Domain=other.example", at: later(-500))
        #expect(try rejections(jar) == ["sid from www.example.com: same-site-none-insecure"])
        try receive("old=1; SameSite=None", at: later(-500))
        #expect(try jar.rejections(site: "example.com").map(\.time) == [Given.now, later(-500)])
    }

    @Test("A batch that fails records no rejection")
    func failed() throws {
        let jar = try jar()
        let context = try Given.context()
        #expect(throws: SessionStoreError.self) {
            try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                try batch.receive(
                    ReceivedResponse(context: context, setCookie: ["sid=1; SameSite=None"]), at: Given.now)
                throw SessionStoreError(.jarNotFound, "", "")
            }
        }
        #expect(try count(jar) == 0)
    }

    @Test(
        "Rejections stay with a renamed jar, are not copied, and are removed when the jar is cleared, pruned or removed"
    )
    func jars() throws {
        let jar = try jar()
        let database = jar.database
        try jar.receive("sid=1; SameSite=None", "fine=1")
        try database.renameJar(named: "default", to: "renamed")
        #expect(try count(database.present("renamed")) == 1)
        _ = try database.copyJar(named: "renamed", to: "copy", now: Given.now)
        #expect(try count(database.present("copy")) == 0)
        _ = try database.prune(jar: "renamed", now: Given.now)
        #expect(try count(jar) == 1)
        _ = try database.prune(jar: "renamed", journalLimit: 0, now: Given.now)
        #expect(try count(jar) == 0)
        try jar.receive("sid=1; SameSite=None", now: later(60))
        #expect(try count(jar) == 1)
        try database.clearJar(named: "renamed", now: later(60))
        #expect(try count(jar) == 0)
        // At once, since a cleared jar begins a new session.
        try jar.receive("sid=1; SameSite=None", now: later(60))
        #expect(try count(jar) == 1)
        try database.discardJar(named: "renamed", now: later(60))
        #expect(try database.number("SELECT count(*) FROM rejected_cookie") == 0)
        try database.restoreJar(named: "renamed", now: later(60))
        #expect(try count(jar) == 0 && database.check().findings.filter(\.isProblem).isEmpty)
    }

    @Test("A response is stored even if its rejections cannot be recorded")
    func unrecorded() throws {
        let jar = try jar()
        try jar.database.execute("DROP TABLE rejected_cookie")
        let decisions = try jar.receive("sid=1; SameSite=None", "fine=1; Path=/")
        #expect(decisions.map(\.outcome) == [.rejected, .stored])
        #expect(try jar.header() == "fine=1")
        try jar.receive("next=1; Path=/")
        #expect(try jar.header() == "fine=1; next=1")
    }
}
