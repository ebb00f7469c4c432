import CookieModel
import Dispatch
import Testing

@testable import SessionStore

@Suite("Large batches")
struct LargeBatchTests {
    private let folder = TemporaryFolder()

    /// Many rows: every tenth line ends a cookie, some take the place of others, and one site has too many.
    private func responses(_ count: Int = 1500) throws -> [ReceivedResponse] {
        try (0..<count).map { number in
            let name = number % 10 == 9 ? "c\(number - 4)" : number % 7 == 0 ? "again\(number % 3)" : "c\(number)"
            let end = number % 10 == 9 ? "; Max-Age=0" : ""
            let value = String(repeating: Character(Unicode.Scalar(UInt8(97 + number % 26))), count: number % 400)
            let host = number % 3 == 0 ? "full" : "h\(number % 11)"
            return ReceivedResponse(
                context: try Given.context("https://\(host).example/path\(number % 2)/"),
                setCookie: [Octets("\(name)=\(value); Path=/\(end)")])
        }
    }

    private func receive(_ responses: [ReceivedResponse], _ jar: CookieJar) throws -> [StorageDecision] {
        try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            var decisions: [StorageDecision] = []
            for response in responses { decisions += try batch.receive(response, at: Given.now) }
            return decisions
        }.result
    }

    private func journal(_ jar: CookieJar) throws -> [CookieChange] {
        try jar.changes(after: 0, count: 10_000).changes
    }

    @Test("A large batch has the result of single responses: cookies, their order, decisions and journal")
    func equivalence() throws {
        let responses = try responses()
        let one = try Given.jar(folder.file("one.sqlite"))
        let many = try Given.jar(folder.file("many.sqlite"))
        let decisions = try receive(responses, one)
        #expect(try responses.flatMap { try many.receive($0, now: Given.now) } == decisions)
        #expect(Set(decisions.map(\.outcome)) == [.stored, .replaced, .deleted])
        #expect(decisions.contains { !$0.evicted.isEmpty })
        let expected = try many.contents()
        #expect(expected.count > 400)
        #expect(try one.contents() == expected)
        #expect(try journal(one) == journal(many))
        // Another batch begins with what this one left.
        let next = try responses.flatMap { try many.receive($0, now: Given.now) }.map(\.outcome)
        #expect(try receive(responses, one).map(\.outcome) == next)
        #expect(try Given.jar(folder.file("one.sqlite")).contents() == many.contents())
    }

    @Test("A large batch seals every value with its own nonce")
    func nonces() throws {
        let jar = try Given.jar()
        try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            for number in 0..<5000 {
                try batch.receive(
                    CookieRecord(
                        name: Octets("n\(number)"), value: "v", domain: "h\(number % 50).example", isHostOnly: true))
            }
        }
        let sealed = try jar.database.read { try CookieRows(database: $0, jarID: jar.id).allCookies() }
        #expect(sealed.count == 5000)
        #expect(Set(sealed.map { Array($0.value[5..<17]) }).count == 5000)
        #expect(try jar.cookies().unreadable.isEmpty)
    }

    @Test(
        "A large batch stores nothing if a row cannot be written, first or last, even if its body ignores the error",
        arguments: [70, 900, 1499], [false, true])
    func failure(at place: Int, isPassedOver: Bool) throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        try jar.receive("before=1; Path=/")
        var responses = try responses()
        responses[place] = ReceivedResponse(context: try Given.context(), setCookie: ["bad=1; Path=/"])
        let all = responses
        try jar.database.failing("INSERT", of: "bad") {
            let code = errorCode {
                try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                    for response in all {
                        do throws(SessionStoreError) {
                            try batch.receive(response, at: Given.now)
                        } catch {
                            if !isPassedOver { throw error }
                        }
                    }
                }
            }
            #expect(code == .databaseFailed)
        }
        #expect(try jar.pairs() == ["before=1"])
        #expect(try receive(all, jar).count == all.count)
        #expect(try jar.pairs().contains("bad=1"))
    }

    @Test("A large batch that fails by itself leaves the connection usable")
    func abandoned() throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        let responses = try responses()
        for _ in 0..<20 {
            let code = errorCode {
                try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                    for response in responses { try batch.receive(response, at: Given.now) }
                    throw SessionStoreError(.diskFull, "test", "thrown by the test")
                }
            }
            #expect(code == .diskFull)
            #expect(try jar.database.number("SELECT count(*) FROM cookie") == 0)
        }
    }

    @Test("A large batch finds its own writes in a new jar, even of sites that are no longer in memory")
    func newJar() throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        let sites = try (0..<5000).map {
            ReceivedResponse(context: try Given.context("https://site\($0).example/"), setCookie: ["n=1"])
        }
        let outcomes = try receive(sites + sites, jar).map(\.outcome)
        #expect(outcomes == Array(repeating: .stored, count: 5000) + Array(repeating: .replaced, count: 5000))
    }

    @Test(
        "A large batch finds its last decisions on a site that it dropped from memory, even if they are not written yet"
    )
    func forgottenSite() throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        let sites = try (0...4096).map {
            ReceivedResponse(context: try Given.context("https://site\($0).example/"), setCookie: ["n=1"])
        }
        let outcomes = try receive(sites + [sites[4095], sites[4094], sites[4096]], jar).map(\.outcome)
        #expect(outcomes == Array(repeating: .stored, count: 4097) + [.replaced, .replaced, .replaced])
    }

    @Test("A large batch can read and write other data between its rows")
    func besides() throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        try jar.receive("old=1; Path=/; Max-Age=5", from: "https://late.example/")
        let later = Given.now.advanced(bySeconds: 10)
        let capture = try jar.beginCapture(named: "c", now: later)
        let digest = CaptureDigest()
        let responses = try responses()
        // A public suffix itself: every site below it is looked at.
        let suffix = ReceivedResponse(context: try Given.context("http://github.io/"), setCookie: ["over=1; Path=/"])
        let below = ReceivedResponse(
            context: try Given.context("https://x.github.io/"), setCookie: ["over=2; Path=/; Secure"])
        let late = ReceivedResponse(context: try Given.context("https://late.example/"), setCookie: ["old=2; Path=/"])
        let decisions = try jar.withBatch(from: capture, now: later) { batch throws(SessionStoreError) in
            for response in responses { try batch.receive(response, at: later) }
            var decisions = try batch.receive(below, at: later)
            decisions += try batch.receive(suffix, at: later)
            try batch.finishCapture(digest)
            decisions += try batch.receive(late, at: later)
            for response in responses { try batch.receive(response, at: later) }
            return decisions
        }.result
        #expect(decisions.map(\.outcome) == [.stored, .rejected, .stored])
        #expect(try jar.header("https://late.example/", now: later) == "old=2")
        #expect(try jar.importedCapture(digest)?.name == "c")
        #expect(try jar.cookies().unreadable.isEmpty)
    }

    @Test("Large batches run on every thread of the pool at once", .timeLimit(.minutes(5)))
    func pool() throws {
        let database = try Given.database(folder.file("crumb.sqlite"))
        let responses = try responses(400)
        let jars = try (0..<8).map { try database.jar(named: "jar \($0)", now: Given.now) }
        DispatchQueue.concurrentPerform(iterations: jars.count) { index in
            #expect(throws: Never.self) { try receive(responses, jars[index]) }
        }
        let expected = try jars[0].pairs()
        #expect(!expected.isEmpty)
        #expect(try jars.allSatisfy { try $0.pairs() == expected })
    }
}
