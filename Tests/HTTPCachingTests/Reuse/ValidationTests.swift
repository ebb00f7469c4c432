import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Validation (section 4.3)")
struct ValidationTests {
    private static func date(_ seconds: Int64) -> Octets { Sample.date(seconds) }

    private func sent(_ stored: MessageFields, _ request: MessageFields = [:]) throws -> MessageFields? {
        let decision = CachingPolicy().lookup(
            try Sample.request("GET", "https://shop.example/a", request), among: [try Sample.stored(stored)],
            now: Sample.after(100))
        return if case .validate(let fields) = decision.outcome { fields } else { nil }
    }

    @Test("A validation request has the stored validators instead of the client's")
    func request() throws {
        let both: MessageFields = ["ETag": "W/\"a\"", "Last-Modified": Self.date(-9), "Cache-Control": "max-age=1"]
        #expect(try sent(both) == ["If-None-Match": "W/\"a\"", "If-Modified-Since": Self.date(-9)])
        #expect(
            try sent(
                both, ["If-None-Match": "\"b\"", "X": "1", "If-Modified-Since": Self.date(0), "Range": "bytes=0-1"])
                == ["X": "1", "Range": "bytes=0-1", "If-None-Match": "W/\"a\"", "If-Modified-Since": Self.date(-9)])
        #expect(try sent(["ETag": "\"a\"", "Cache-Control": "max-age=1"]) == ["If-None-Match": "\"a\""])
        #expect(try sent(["Last-Modified": Self.date(-9)]) == ["If-Modified-Since": Self.date(-9)])
        #expect(try sent(["ETag": "a", "Cache-Control": "max-age=1"]) == nil)
        #expect(try sent(["Last-Modified": "x"]) == nil)
    }

    @Test("A validation after a stale answer asks for the whole")
    func background() throws {
        let fields: MessageFields = ["ETag": "\"a\"", "Cache-Control": "max-age=1, stale-while-revalidate=99"]
        let request = try Sample.request(
            "GET", "https://shop.example/a", ["Range": "bytes=0-1", "If-Range": "\"a\"", "X": "1"])
        let decision = CachingPolicy().lookup(request, among: [try Sample.stored(fields)], now: Sample.after(9))
        guard case .hitThenValidate(let answer, let sent) = decision.outcome else {
            Issue.record("\(decision.outcome)")
            return
        }
        #expect(answer.status == 206 && sent == ["X": "1", "If-None-Match": "\"a\""])
    }

    /// A decision to validate the first of the stored responses.
    private func validation(of stored: [CachedResponse]) -> LookupDecision {
        LookupDecision(
            outcome: .validate(fields: [:]),
            choice: LookupDecision.Choice(
                index: 0, freshness: CachingPolicy().freshness(of: stored[0], now: Sample.start)),
            rule: AppliedRule(origin: .protocol, treatment: .protocol), reasons: [.stale])
    }

    /// What a response means after the first of the stored responses was validated.
    private func outcome(
        of response: OriginResponse, for request: CacheRequest? = nil, _ stored: [CachedResponse]
    ) throws -> ValidationOutcome {
        let request = try request ?? Sample.request()
        return CachingPolicy().validated(
            by: response, after: validation(of: stored), for: request, stored: stored)
    }

    /// The indices that a 304 updates, and the one that answers.
    private func updated(_ fields: MessageFields, _ stored: [MessageFields]) throws -> String {
        let stored = try stored.map { try Sample.stored($0) }
        let outcome = try outcome(of: Sample.response(304, fields), stored)
        switch outcome {
        case .freshened(let chosen, _, let updates, _):
            return "\(chosen): " + updates.keys.sorted().map(String.init).joined(separator: " ")
        case .repeated: return "repeated"
        case .replaced: return "replaced"
        case .stale: return "stale"
        case .completed: return "completed"
        }
    }

    private static let a: MessageFields = ["ETag": "\"a\"", "Last-Modified": date(-9), "Date": date(1)]
    private static let b: MessageFields = ["ETag": "\"b\"", "Last-Modified": date(-9), "Date": date(2)]
    private static let weak: MessageFields = ["ETag": "W/\"a\"", "Date": date(3)]
    private static let bare: MessageFields = ["Date": date(4)]

    @Test(
        "A 304 updates the responses that its validators identify (section 4.3.4)",
        arguments: [
            // A strong validator.
            (["ETag": "\"a\""], [a], "0: 0"), (["ETag": "\"a\""], [a, b, a], "0: 0 2"),
            (["ETag": "\"b\""], [a, b], "1: 1"),
            (["ETag": "\"c\""], [a, b], "repeated"), (["ETag": "\"a\""], [weak], "repeated"),
            (["ETag": "\"a\"", "Last-Modified": date(-8)], [a], "0: 0"),
            // A weak one: the one whose validators were sent, or else the most recent match.
            (["ETag": "W/\"a\""], [a], "0: 0"), (["ETag": "W/\"a\""], [a, weak], "0: 0"),
            (["ETag": "W/\"a\""], [b, a, weak], "2: 2"), (["ETag": "W/\"c\""], [a], "repeated"),
            (["Last-Modified": date(-9)], [a, b], "0: 0"), (["Last-Modified": date(-9)], [bare, a, b], "2: 2"),
            (["Last-Modified": date(-8)], [a, b], "repeated"),
            // None.
            ([:], [bare], "0: 0"), ([:], [a], "0: 0"), ([:], [a, b], "0: 0"),
        ] as [(MessageFields, [MessageFields], String)])
    func identified(fields: MessageFields, stored: [MessageFields], expected: String) throws {
        #expect(try updated(fields, stored) == expected)
    }

    @Test("A full response replaces, and an error may let the stored one answer (section 4.3.3)")
    func fullResponses() throws {
        func outcome(_ status: Int, _ directives: Octets) throws -> ValidationOutcome {
            let stored = try Sample.stored(["ETag": "\"a\"", "Cache-Control": directives])
            let response = OriginResponse(
                status: status, fields: [:], requestTime: Sample.after(5), responseTime: Sample.after(5))
            return try self.outcome(of: response, [stored])
        }
        func isStale(_ outcome: ValidationOutcome) -> Bool { if case .stale = outcome { true } else { false } }
        func isReplaced(_ outcome: ValidationOutcome) -> Bool { if case .replaced = outcome { true } else { false } }
        for status in [200, 206, 404, 500, 503] { #expect(isReplaced(try outcome(status, "max-age=1"))) }
        for status in [500, 502, 503, 504] { #expect(isStale(try outcome(status, "max-age=1, stale-if-error=4"))) }
        for status in [200, 404, 501, 505] {
            #expect(isReplaced(try outcome(status, "max-age=1, stale-if-error=4")))
        }
        #expect(isReplaced(try outcome(503, "max-age=1, stale-if-error=3")))
    }

    @Test("Fields are updated but for those that the stored octets depend on (section 3.2)")
    func updating() throws {
        let stored = try Sample.stored([
            "ETag": "\"a\"", "Date": Self.date(0), "Age": "7", "Content-Encoding": "gzip", "Content-Length": "10",
            "X": "1", "x": "2",
            "Y": "1",
        ])
        let response = OriginResponse(
            status: 304,
            fields: [
                "ETag": "\"a\"", "Date": Self.date(50), "Content-Encoding": "br", "Content-Length": "11", "X": "3",
                "Z": "1",
                "Content-Range": "x", "Connection": "Z2", "Z2": "1", "Set-Cookie": "a=1",
            ], requestTime: Sample.after(50), responseTime: Sample.after(51))
        let outcome = try outcome(of: response, [stored.invalidated])
        guard case .freshened(_, _, let updates, _) = outcome, let updated = updates[0] else {
            Issue.record("\(outcome)")
            return
        }
        #expect(
            updated.fields == [
                "Content-Encoding": "gzip", "Content-Length": "10", "Y": "1", "ETag": "\"a\"", "Date": Self.date(50),
                "X": "3",
                "Z": "1",
            ])
        #expect(
            !updated.isInvalid && updated.responseTime == Sample.after(51) && updated.requestTime == Sample.after(50))
    }

    @Test(
        "A 304 with no-store confirms a response for one request only, and one to a request with no-store changes nothing",
        arguments: [
            ("no-store", "", "removed"), ("no-store, must-understand", "", "updated"), ("max-age=1", "", "updated"),
            ("max-age=1", "no-store", "unchanged"), ("no-store", "no-store", "unchanged"),
        ])
    func noStore(directives: String, requested: String, expected: String) throws {
        let outcome = try outcome(
            of: Sample.response(304, ["Cache-Control": Octets(directives), "X": "1"]),
            for: try Sample.request("GET", "https://shop.example/a", ["Cache-Control": Octets(requested)]),
            [try Sample.stored(["ETag": "\"a\""])])
        guard case .freshened(0, let answer, let updates, let removed) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(answer.status == 200 && answer.fields.has("x"))
        #expect((updates.isEmpty ? removed.isEmpty ? "unchanged" : "removed" : "updated") == expected)
        #expect(updates.values.allSatisfy { !$0.isInvalid })
    }

    @Test("Vary of a 304 applies to the request that it answers")
    func vary() throws {
        let stored = try Sample.stored(["ETag": "\"a\"", "Cache-Control": "max-age=9"])
        func updated(_ vary: Octets) throws -> (CachedResponse?, removed: [Int])? {
            let outcome = try outcome(
                of: Sample.response(304, ["Vary": vary]),
                for: try Sample.request("GET", "https://shop.example/a", ["Foo": "1"]), [stored])
            return if case .freshened(_, _, let updates, let removed) = outcome { (updates[0], removed) } else { nil }
        }
        #expect(try updated("Foo")?.0?.nominated == NominatedFields(values: ["foo": "1"]))
        #expect(try updated("*")?.0 == nil && updated("*")?.removed == [0])
    }

    @Test("A 304 to a request without the cache's own conditions is the client's")
    func clientCondition() throws {
        let stored = [try Sample.stored(["Cache-Control": "max-age=1"])]
        let request = try Sample.request("GET", "https://shop.example/a", ["If-None-Match": "\"a\""])
        let decision = CachingPolicy().lookup(request, among: stored, now: Sample.after(9))
        #expect(decision.outcome == .forward(fields: request.fields) && decision.choice?.index == 0)
        for fields: MessageFields in [[:], ["ETag": "\"a\""]] {
            let outcome = CachingPolicy().validated(
                by: Sample.response(304, fields), after: decision, for: request, stored: stored)
            #expect(outcome == .replaced(unsuitable: []))
        }
    }

    @Test("A part never answers for the whole that a 304 confirms, and is not confirmed by a weak validator")
    func parts() throws {
        let whole = try Sample.stored(["ETag": "W/\"1\"", "Date": Self.date(0), "Cache-Control": "max-age=1"])
        func part(_ tag: Octets) throws -> CachedResponse {
            CachedResponse(
                url: whole.url, status: 200, fields: ["ETag": tag, "Date": Self.date(5)], nominated: NominatedFields(),
                requestTime: Sample.start, responseTime: Sample.after(5), extent: .part(0..<100, total: 1000))
        }
        func outcome(_ tag: Octets, _ stored: [CachedResponse]) throws -> ValidationOutcome {
            let decision = CachingPolicy().lookup(try Sample.request(), among: stored, now: Sample.after(99))
            #expect(decision.choice?.index == 0)
            return CachingPolicy().validated(
                by: Sample.response(304, ["ETag": tag]), after: decision, for: try Sample.request(), stored: stored)
        }
        guard case .freshened(0, let answer, let updates, []) = try outcome("W/\"1\"", [whole, try part("W/\"1\"")])
        else {
            Issue.record("another response was chosen")
            return
        }
        #expect(answer.body == 0..<10 && updates.keys.sorted() == [0])
        // Another response is confirmed than the one that was asked about: rather a whole one than a newer part.
        let current = try Sample.stored(["ETag": "W/\"0\"", "Date": Self.date(9), "Cache-Control": "max-age=1"], at: 9)
        for tag: Octets in ["W/\"1\"", "\"1\""] {
            let old = try Sample.stored(["ETag": tag, "Date": Self.date(0), "Cache-Control": "max-age=1"])
            guard case .freshened(2, _, _, []) = try outcome(tag, [current, try part(tag), old]) else {
                Issue.record("another response was chosen for \(tag)")
                return
            }
        }
        // Only a part has the strong validator.
        #expect(try outcome("\"2\"", [whole, try part("\"2\"")]) == .repeated)
        #expect(try part("\"2\"").answer(to: try Sample.request(), age: 0) == nil)
        #expect(try part("\"2\"").answer(to: try Sample.request("HEAD"), age: 0) == nil)
        let range = try Sample.request("GET", "https://shop.example/a", ["Range": "bytes=90-110"])
        #expect(try part("\"2\"").answer(to: range, age: 0) == nil)
    }
}
