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
}
