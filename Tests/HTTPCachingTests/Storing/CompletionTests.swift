import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Completing incomplete responses (section 3.3)")
struct CompletionTests {
    private static let whole = Array("0123456789".utf8)

    /// A server whose first answer breaks off after four octets, and the requests that it gets.
    private final class Server {
        var ranges: [String] = []
        var tag: Octets

        init(tag: Octets) {
            self.tag = tag
        }

        func reply(to request: CacheRequest, at now: Timestamp) -> (TestCache.Reply?, Timestamp) {
            ranges.append(request.fields.values("range").map(\.description).joined())
            let fields: MessageFields = ["ETag": tag, "Cache-Control": "max-age=60"]
            guard ranges.count > 1 else {
                let cut = Array(CompletionTests.whole.prefix(4))
                let announced = MessageFields(fields.lines + [.init("Content-Length", "10")])
                return (TestCache.Reply(status: 200, fields: announced, body: cut, isComplete: false), now)
            }
            guard request.fields.values("if-range") == [tag] else {
                return (TestCache.Reply(status: 200, fields: fields, body: CompletionTests.whole), now)
            }
            let rest = MessageFields(fields.lines + [.init("Content-Range", "bytes 4-9/10")])
            return (TestCache.Reply(status: 206, fields: rest, body: Array(CompletionTests.whole[4...])), now)
        }
    }

    private func bodies(_ server: Server, secondTag: Octets? = nil, _ second: MessageFields = [:]) throws -> [String] {
        var cache = TestCache()
        var bodies: [String] = []
        for fields in [[:], second, [:]] {
            let request = try Sample.request("GET", "https://shop.example/a", fields)
            let reply = cache.answer(request, at: Sample.start) { server.reply(to: $0, at: $1) }
            bodies.append("\(reply.status) " + String(decoding: reply.body, as: UTF8.self))
            if let secondTag { server.tag = secondTag }
        }
        return bodies
    }

    @Test("The rest of a response that broke off is asked for, and makes it whole")
    func rest() throws {
        let server = Server(tag: "\"a\"")
        #expect(try bodies(server) == ["200 0123", "200 0123456789", "200 0123456789"])
        #expect(server.ranges == ["", "bytes=4-"])
    }

    @Test("If the representation has changed, the server sends all of it")
    func changed() throws {
        let server = Server(tag: "\"a\"")
        #expect(try bodies(server, secondTag: "\"b\"") == ["200 0123", "200 0123456789", "200 0123456789"])
        #expect(server.ranges == ["", "bytes=4-"])
    }

    @Test("Without a strong validator, all of it is asked for", arguments: ["W/\"a\"", "a"])
    func weak(tag: String) throws {
        let server = Server(tag: Octets(tag))
        #expect(try bodies(server) == ["200 0123", "200 0123456789", "200 0123456789"])
        #expect(server.ranges == ["", ""])
    }

    @Test("A request with conditions of its own is forwarded as it is")
    func conditions() throws {
        let server = Server(tag: "\"a\"")
        _ = try bodies(server, ["If-None-Match": "\"b\""])
        #expect(server.ranges == ["", ""])
    }

    /// The bodies of the answers, and the ranges that were asked for, if the second request gets a response.
    private func answers(_ second: TestCache.Reply, total: Octets? = nil) throws -> [String] {
        var cache = TestCache()
        var log: [String] = []
        var count = 0
        let fields: MessageFields = ["ETag": "\"a\"", "Cache-Control": "max-age=60"]
        for _ in 0..<3 {
            let reply = cache.answer(try Sample.request(), at: Sample.start) { request, now in
                count += 1
                log.append(request.fields.values("range").first?.description ?? "all")
                if count == 1 {
                    let announced = total.map { [MessageFields.Field("Content-Length", $0)] } ?? []
                    return (
                        TestCache.Reply(
                            status: 200, fields: MessageFields(fields.lines + announced),
                            body: Array(Self.whole.prefix(4)), isComplete: false), now
                    )
                }
                let isWhole = !request.fields.has("range")
                return (isWhole ? TestCache.Reply(status: 200, fields: fields, body: Self.whole) : second, now)
            }
            log.append("\(reply.status) " + String(decoding: reply.body, as: UTF8.self))
        }
        return log
    }

    private static let tagged: MessageFields = ["ETag": "\"a\"", "Cache-Control": "max-age=60"]

    private static func reply(
        _ status: Int, _ fields: MessageFields, _ body: String = "", isComplete: Bool = true
    ) -> TestCache.Reply {
        TestCache.Reply(status: status, fields: fields, body: Array(body.utf8), isComplete: isComplete)
    }

    @Test(
        "What is no use to a client without Range is never its answer, and the request is repeated once",
        arguments: [
            reply(416, ["Content-Range": "bytes */4"]), reply(416, ["ETag": "\"a\"", "Content-Range": "bytes */3"]),
            reply(416, ["ETag": "\"b\"", "Content-Range": "bytes */4"]), reply(416, ["ETag": "\"a\""]),
            reply(206, ["ETag": "\"b\"", "Content-Range": "bytes 4-9/10"], "456789"),
            reply(206, ["ETag": "\"a\"", "Content-Range": "bytes 4-8/10"], "45678"),
            reply(206, ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"], "56789"),
            reply(206, ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"], "4567", isComplete: false),
            reply(206, ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10", "Cache-Control": "no-store"], "456789"),
            reply(206, ["ETag": "\"a\""], "456789"), reply(304, ["ETag": "\"a\""]),
        ])
    func repeated(second: TestCache.Reply) throws {
        #expect(
            try answers(second) == ["all", "200 0123", "bytes=4-", "all", "200 0123456789", "200 0123456789"])
    }

    @Test("A 416 with the length of the part and its strong validator makes the part whole")
    func nothingMissing() throws {
        let second = Self.reply(416, ["ETag": "\"a\"", "Content-Range": "bytes */4"])
        #expect(try answers(second) == ["all", "200 0123", "bytes=4-", "200 0123", "200 0123"])
        #expect(
            try answers(second, total: "10")
                == ["all", "200 0123", "bytes=4-", "all", "200 0123456789", "200 0123456789"])
    }

    @Test("Another status answers the client")
    func other() throws {
        let log = try answers(Self.reply(503, [:], "x"))
        #expect(log == ["all", "200 0123", "bytes=4-", "503 x", "bytes=4-", "503 x"])
    }

    private func part(_ url: String, _ fields: MessageFields, at seconds: Int64 = 0) throws -> CachedResponse {
        CachedResponse(
            url: try RequestURL(url), status: 200,
            fields: MessageFields(Self.tagged.lines + fields.lines + [.init("Date", Sample.date(seconds))]),
            nominated: NominatedFields(), requestTime: Sample.start, responseTime: Sample.after(seconds),
            extent: .part(0..<4, total: 10))
    }

    @Test("Only a part of the same URL is completed, and of those the most recent one")
    func choice() throws {
        let fields: MessageFields = ["No-Vary-Search": "params=(\"u\")"]
        let other = try part("https://shop.example/a?u=1", fields, at: 9)
        let request = try Sample.request("GET", "https://shop.example/a")
        #expect(Sample.outcome(request, [other]) == "forward incomplete")
        let stored = [
            try part("https://shop.example/a", [:], at: 1), other, try part("https://shop.example/a", [:], at: 5),
        ]
        let decision = CachingPolicy().lookup(request, among: stored, now: Sample.after(9))
        #expect(decision.choice?.index == 2 && decision.reasons == [.incomplete])
        let unstored = try Sample.request("GET", "https://shop.example/a", ["Cache-Control": "no-store"])
        #expect(Sample.outcome(unstored, stored) == "forward incomplete")
    }

    @Test("A part updates the whole that has its strong validator")
    func wholeAndPart() throws {
        let whole = try Sample.stored(Self.tagged)
        let fields: MessageFields = ["ETag": "\"a\"", "Content-Range": "bytes 2-5/10", "X": "1"]
        let storable = CachingPolicy().storing(Sample.response(206, fields), for: try Sample.request()).response
        let part = try #require(storable?.received(bodyLength: 4, isComplete: true))
        let combination = try #require(whole.combined(with: part))
        #expect(combination.response.extent == .whole(length: 10) && combination.response.fields.has("x"))
        #expect(combination.pieces.map(\.positions) == [0..<10] && combination.pieces[0].source == .stored)
    }
}
