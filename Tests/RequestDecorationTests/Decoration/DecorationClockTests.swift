import CookieModel
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import Testing

@Suite("The time of decorated requests")
struct DecorationClockTests {
    private let time = ManualTime(DecorationFixture.now)

    private func decorator() throws -> (RequestDecorator, SessionDatabase) {
        let database = try SessionDatabase.inMemory(clock: .manual(time))
        let rule = AuthorizationRule(scope: try URLScope("https://example.com/"), named: "work", in: database.tokens)
        return (
            RequestDecorator(jar: try database.jar(), settings: DecorationSettings(authorization: [rule])), database
        )
    }

    @Test("Without a time, it is that of the jar's database, for each request of an exchange and each response")
    func exchange() async throws {
        let (decorator, _) = try decorator()
        func cookies() async throws -> [String?] {
            var sent: [String?] = []
            _ = try await decorator.exchange(
                DecorationFixture.request(), in: try DecorationFixture.context()
            ) { request, chain in
                sent.append(request.headerFields[.cookie])
                time.advance(bySeconds: 30)
                let isFirst = chain.number == 1
                return (
                    ResponseHead(
                        status: isFirst ? 302 : 200, location: isFirst ? "/next" : nil,
                        setCookie: isFirst ? ["a=1; Max-Age=50; Path=/"] : []),
                    ()
                )
            }
            return sent
        }
        #expect(try await cookies() == [nil, "a=1"])
        #expect(try await cookies() == ["a=1", "a=1"])
        time.advance(bySeconds: 21)
        #expect(try await cookies() == [nil, "a=1"])
    }

    @Test("The calls that block and those that do not decorate and receive in the same way")
    func twins() async throws {
        let (decorator, database) = try decorator()
        try await database.tokens.put(DecorationFixture.tokens(), for: Profile(id: ProfileID(), name: "work"))
        let context = try DecorationFixture.context()
        let head = ResponseHead(status: 200, setCookie: ["a=1; Path=/; Max-Age=60"])
        #expect(try await decorator.receive(head, in: context).decisions.map(\.outcome) == [.stored])
        for seconds in [0, 61, 3600] as [Int64] {
            time.now = DecorationFixture.now.advanced(bySeconds: seconds)
            let blocking = try decorator.decorate(DecorationFixture.request(), in: context, now: time.now)
            let (request, report) = try await decorator.decorate(DecorationFixture.request(), in: context)
            #expect(request == blocking.request)
            #expect(request.headerFields[.cookie] == (seconds == 0 ? "a=1" : nil))
            #expect(request.headerFields[.authorization] == (seconds < 3600 ? "Bearer t0ken" : nil))
            #expect(report.fieldOmissions == blocking.report.fieldOmissions)
        }
    }
}
