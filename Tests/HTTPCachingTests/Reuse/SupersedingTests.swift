import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Superseded responses (sections 4 and 4.3.3)")
struct SupersedingTests {
    private static let fresh: MessageFields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]

    /// What a cache stores after a reload that is answered by a status, and the next answer.
    private func reload(_ status: Int, _ fields: MessageFields, method: Octets = "GET") throws -> String {
        var cache = TestCache()
        var replies = [
            TestCache.Reply(status: 200, fields: Self.fresh, body: [1]),
            TestCache.Reply(status: status, fields: fields, body: method == "HEAD" ? [] : [2]),
        ]
        let reloaded: MessageFields = ["Cache-Control": "no-cache"]
        for (method, fields) in [("GET", [:]), (method, reloaded)] as [(Octets, MessageFields)] {
            let request = try Sample.request(method, "https://shop.example/a", fields)
            _ = cache.answer(request, at: Sample.start) { _, now in (replies.removeFirst(), now) }
        }
        let outcome = Sample.outcome(try Sample.request(), cache.stored)
        return "\(cache.stored.map { String($0.status) }.joined(separator: " ")): \(outcome)"
    }

    @Test(
        "A full response to a reload takes the place of what was stored, whether or not it is stored itself",
        arguments: [
            (200, ["Cache-Control": "no-store"], ": forward not-stored"),
            (200, ["Cache-Control": "max-age=9"], "200: hit"), (404, ["Cache-Control": "max-age=9"], "404: hit"),
            (404, [:], "404: forward stale"), (401, [:], ": forward not-stored"),
            (302, ["Location": "/login"], ": forward not-stored"), (410, [:], "410: forward stale"),
            // The server has failed, or has not got as far as the resource.
            (500, [:], "200: hit"), (503, [:], "200: hit"), (429, [:], "200: hit"), (408, [:], "200: hit"),
            (421, [:], "200: hit"), (412, [:], "200: hit"),
        ] as [(Int, MessageFields, String)])
    func reloads(status: Int, fields: MessageFields, expected: String) throws {
        #expect(try reload(status, fields) == expected)
    }

    @Test("The answer to a HEAD request takes no place")
    func head() throws {
        #expect(try reload(404, [:], method: "HEAD") == "200: hit")
    }

    @Test("A partial response leaves what has its strong validator", arguments: [("\"a\"", []), ("\"b\"", [0])])
    func partial(tag: String, unsuitable: [Int]) throws {
        let stored = [try Sample.stored(Self.fresh)]
        let request = try Sample.request(
            "GET", "https://shop.example/a", ["Cache-Control": "no-cache", "Range": "bytes=0-1"])
        let decision = CachingPolicy().lookup(request, among: stored, now: Sample.start)
        let response = Sample.response(206, ["ETag": Octets(tag), "Content-Range": "bytes 0-1/10"])
        #expect(
            CachingPolicy().validated(by: response, after: decision, for: request, stored: stored)
                == .replaced(unsuitable: unsuitable))
    }

    @Test(
        "A 416 tells of a change only after a condition",
        arguments: [(["ETag": "\"a\""], [0]), ([:], [])] as [(MessageFields, [Int])])
    func unsatisfied(fields: MessageFields, unsuitable: [Int]) throws {
        let stored = [try Sample.stored(fields)]
        let request = try Sample.request("GET", "https://shop.example/a", ["Range": "bytes=20-"])
        let decision = CachingPolicy().lookup(request, among: stored, now: Sample.after(1))
        #expect(
            CachingPolicy().validated(by: Sample.response(416), after: decision, for: request, stored: stored)
                == .replaced(unsuitable: unsuitable))
    }

    @Test("A response without Vary is not hidden by an older one with Vary")
    func vary() throws {
        let policy = CachingPolicy()
        let request = try Sample.request("GET", "https://shop.example/a", ["Foo": "1"])
        func stored(_ fields: MessageFields, _ foo: Octets, at seconds: Int64) throws -> CachedResponse {
            try Sample.stored(MessageFields(Self.fresh.lines + fields.lines), for: ["Foo": foo], at: seconds)
        }
        let old = [try stored(["Vary": "Foo"], "1", at: 0), try stored(["Vary": "Foo"], "2", at: 0)]
        let new = try stored([:], "1", at: 5)
        #expect(policy.replacement(by: new, to: request, among: old) == Replacement(response: new, superseded: [0]))
        #expect(policy.lookup(request, among: [old[1], new], now: Sample.after(6)).choice?.index == 1)
        let post = try Sample.request("POST", "https://shop.example/a", ["Foo": "2"])
        #expect(policy.replacement(by: new, to: post, among: old).superseded == [1])
    }

    @Test("What was requested before an invalidation does not undo it", arguments: [(4, true), (5, true), (6, false)])
    func inFlight(seconds: Int64, isInvalid: Bool) throws {
        let policy = CachingPolicy()
        let stored = [try Sample.stored(Self.fresh).invalidated(at: Sample.after(5))]
        // A new response.
        let new = try Sample.stored(Self.fresh, at: seconds)
        let replacement = policy.replacement(by: new, to: try Sample.request(), among: stored)
        #expect(replacement.response.isInvalid == isInvalid && replacement.superseded == [0])
        // A validation.
        let decision = policy.lookup(try Sample.request(), among: stored, now: Sample.after(5))
        let response = OriginResponse(
            status: 304, fields: ["ETag": "\"a\""], requestTime: Sample.after(seconds), responseTime: Sample.after(9))
        let outcome = policy.validated(by: response, after: decision, for: try Sample.request(), stored: stored)
        guard case .freshened(_, _, let updates, _) = outcome, let update = updates[0] else {
            Issue.record("\(outcome)")
            return
        }
        #expect(update.isInvalid == isInvalid)
        // One that was on its way even longer does not undo it later.
        let late = policy.replacement(
            by: try Sample.stored(Self.fresh, at: 3), to: try Sample.request(), among: [update])
        #expect(late.response.isInvalid)
        #expect(stored[0].invalidated(at: Sample.after(1)).invalidatedAt == Sample.after(5))
    }

    @Test("The response to an unsafe request is not invalidated by itself")
    func post() throws {
        var cache = TestCache()
        let fields: MessageFields = ["Cache-Control": "max-age=60", "Content-Location": "/a"]
        for method: Octets in ["GET", "POST"] {
            _ = cache.answer(try Sample.request(method), at: Sample.start) { _, now in
                (TestCache.Reply(status: 200, fields: fields, body: Array(method)), now)
            }
        }
        #expect(cache.stored.map(\.isInvalid) == [false])
        let stored = [try Sample.stored(Self.fresh).invalidated(at: Sample.after(5))]
        let new = try Sample.stored(Self.fresh)
        let replacement = CachingPolicy().replacement(by: new, to: try Sample.request("POST"), among: stored)
        #expect(replacement.response.isInvalid)
    }

    @Test("An invalidation from the future does not last", arguments: [(86_400, true), (86_401, false)])
    func clock(seconds: Int64, isInvalid: Bool) throws {
        let stored = [try Sample.stored(Self.fresh).invalidated(at: Sample.after(seconds))]
        let new = try Sample.stored(Self.fresh)
        let replacement = CachingPolicy().replacement(by: new, to: try Sample.request(), among: stored)
        #expect(replacement.response.isInvalid == isInvalid)
    }

    @Test("A stored response that a validation has marked with no-store or Vary: * answers nothing, not even offline")
    func marked() throws {
        for fields: MessageFields in [["Cache-Control": "no-store"], ["Vary": "*"]] {
            let stored = CachedResponse(
                url: try RequestURL("https://shop.example/a"), status: 200, fields: fields,
                nominated: NominatedFields(), requestTime: Sample.start, responseTime: Sample.start,
                extent: .whole(length: 1))
            #expect(Sample.outcome(try Sample.request(), [stored], isOffline: true) == "unavailable not-stored")
            let new = try Sample.stored(Self.fresh)
            let replacement = CachingPolicy().replacement(by: new, to: try Sample.request(), among: [stored])
            #expect(replacement.superseded == [0])
        }
    }
}
