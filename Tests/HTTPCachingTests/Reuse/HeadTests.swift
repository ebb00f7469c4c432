import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Freshening responses by HEAD (section 4.3.5)")
struct HeadTests {
    private static func date(_ seconds: Int64) -> Octets { Sample.date(seconds) }

    @Test("A HEAD response updates the responses that agree with it, and invalidates the others (section 4.3.5)")
    func head() throws {
        func outcome(_ status: Int, _ fields: MessageFields, _ method: Octets = "HEAD") throws -> String {
            let stored = try Sample.stored(["ETag": "\"a\"", "Last-Modified": Self.date(-9)])
            let updates = CachingPolicy().freshened(
                byHead: Sample.response(status, fields), to: try Sample.request(method), among: [stored])
            return updates[0].map { $0.isInvalid ? "invalidated" : "updated" } ?? "kept"
        }
        #expect(try outcome(200, ["X": "1"]) == "updated")
        #expect(
            try outcome(200, ["ETag": "\"a\"", "Last-Modified": Self.date(-9), "Content-Length": "10"]) == "updated")
        #expect(try outcome(200, ["ETag": "\"b\""]) == "invalidated")
        #expect(try outcome(200, ["Last-Modified": Self.date(-8)]) == "invalidated")
        #expect(try outcome(200, ["Content-Length": "11"]) == "invalidated")
        #expect(try outcome(200, ["Content-Length": "x"]) == "invalidated")
        #expect(try outcome(404, ["ETag": "\"b\""]) == "kept")
        #expect(try outcome(200, ["ETag": "\"b\""], "GET") == "kept")
    }

    @Test(
        "A HEAD response lifts an invalidation only if a strong validator matches (section 4.4)",
        arguments: [
            (["X": "1"], true), (["Content-Length": "10"], true), (["ETag": "\"a\""], false),
            (["Last-Modified": date(-9)], true), (["ETag": "\"a\"", "Content-Length": "11"], true),
        ] as [(MessageFields, Bool)])
    func invalidated(fields: MessageFields, isInvalid: Bool) throws {
        let stored = try Sample.stored(["ETag": "\"a\"", "Last-Modified": Self.date(-9)]).invalidated
        let updates = CachingPolicy().freshened(
            byHead: Sample.response(200, fields), to: try Sample.request("HEAD"), among: [stored])
        #expect(updates[0]?.isInvalid == isInvalid)
    }

    @Test("A weak validator lifts no invalidation")
    func weak() throws {
        let stored = try Sample.stored(["ETag": "W/\"a\""]).invalidated
        let head = Sample.response(200, ["ETag": "W/\"a\""])
        let updates = CachingPolicy().freshened(byHead: head, to: try Sample.request("HEAD"), among: [stored])
        #expect(updates[0]?.isInvalid == true)
    }

    @Test("Nothing of a HEAD response with no-store is stored", arguments: [("no-store", ""), ("", "no-store")])
    func noStore(response: String, request: String) throws {
        let head = Sample.response(200, ["Cache-Control": Octets(response), "X": "1"])
        let request = try Sample.request("HEAD", "https://shop.example/a", ["Cache-Control": Octets(request)])
        let updates = CachingPolicy().freshened(
            byHead: head, to: request, among: [try Sample.stored(["ETag": "\"a\""])])
        #expect(updates[0]?.isInvalid == true && updates[0]?.fields.has("x") == false)
    }
}
