import CookieModel
import Testing

@testable import SessionStore

@Suite("Batches")
struct BatchTests {
    private func response(_ lines: String..., from url: String = Given.site) throws -> ReceivedResponse {
        ReceivedResponse(context: try Given.context(url), setCookie: lines.map { Octets($0) })
    }

    @Test("A batch is stored completely, in one transaction")
    func all() throws {
        let jar = try Given.jar()
        let responses = try (0..<100).map { try response("c\($0)=\($0); Path=/", from: "https://h\($0 % 7).example/") }
        try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            for response in responses { try batch.receive(response, at: Given.now) }
        }
        #expect(try jar.cookies().readable.count == 100)
        #expect(try jar.header("https://h0.example/").hasPrefix("c0=0; c7=7; c14=14"))
    }

    @Test("A batch that fails at its end stores nothing, and changes nothing")
    func nothing() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/", "old=1; Max-Age=5; Path=/")
        let before = try jar.cookies().readable
        let responses = [try response("a=2; Path=/", "b=3; Path=/"), try response("a=; Max-Age=0; Path=/")]
        let later = Given.now.advanced(bySeconds: 10)
        #expect(
            errorCode {
                try jar.withBatch(now: later) { batch throws(SessionStoreError) in
                    for response in responses { try batch.receive(response, at: later) }
                    throw SessionStoreError(.diskFull, "test", "thrown by the test")
                }
            } == .diskFull)
        #expect(try jar.cookies().readable == before)
        try jar.receive("c=4; Path=/")
        #expect(try jar.header() == "a=1; old=1; c=4")
    }

    @Test("Later lines of a batch see earlier ones")
    func withinABatch() throws {
        let jar = try Given.jar()
        let responses = [
            try response("a=1; Path=/", "a=2; Path=/"), try response("a=3; Path=/", "b=1; Path=/; Secure"),
            try response("b=2; Path=/", from: "http://www.example.com/"), try response("a=; Max-Age=0; Path=/"),
            try response("a=4; Path=/"),
        ]
        let outcomes = try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            var outcomes: [StorageDecision.Outcome] = []
            for response in responses { outcomes += try batch.receive(response, at: Given.now).map(\.outcome) }
            return outcomes
        }.result
        #expect(outcomes == [.stored, .replaced, .replaced, .stored, .rejected, .deleted, .stored])
        #expect(try jar.header() == "b=1; a=4")
    }

    @Test("A batch over more sites than it remembers decides the same")
    func manySites() throws {
        let jar = try Given.jar()
        let responses = try (0..<5000).map { try response("n=\($0)", from: "https://site\($0).example/") }
        func outcomes() throws -> Set<StorageDecision.Outcome> {
            try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                var outcomes: Set<StorageDecision.Outcome> = []
                for response in responses {
                    outcomes.formUnion(try batch.receive(response, at: Given.now).map(\.outcome))
                }
                return outcomes
            }.result
        }
        #expect(try outcomes() == [.stored])
        #expect(try outcomes() == [.replaced])
        #expect(try jar.database.number("SELECT count(DISTINCT sequence) FROM cookie") == 5000)
    }

    @Test("Records and responses of one batch see each other")
    func records() throws {
        let jar = try Given.jar()
        let response = try response("a=1; Path=/")
        let record = CookieRecord(name: "a", value: "2", domain: "www.example.com", isHostOnly: true)
        let outcomes = try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            [
                try batch.receive(record).outcome, try batch.receive(response, at: Given.now)[0].outcome,
                try batch.receive(record).outcome,
            ]
        }.result
        #expect(outcomes == [.stored, .replaced, .replaced])
        #expect(try jar.header() == "a=2")
    }

    @Test("Informational responses set no cookies, and each line is reported", arguments: [100, 102, 103, 199])
    func informational(status: Int) throws {
        let jar = try Given.jar()
        let decisions = try jar.receive(
            ReceivedResponse(context: try Given.context(), status: status, setCookie: ["a=1", "b=2"]), now: Given.now)
        #expect(decisions.map(\.reasons) == [[.informationalResponse], [.informationalResponse]])
        #expect(try jar.header() == "")
    }
}
