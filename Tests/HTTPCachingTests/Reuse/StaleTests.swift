import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Serving stale responses (section 4.2.4)")
struct StaleTests {
    @Test(
        "A stale response answers for a server that fails if something permits it and nothing forbids it (section 4.2.4)"
    )
    func failures() throws {
        func answers(
            _ directives: Octets, _ request: Octets = "", _ failure: ServerFailure = .unreachable,
            disconnected: Bool = false
        ) throws -> Bool {
            var policy = CachingPolicy()
            policy.servesStaleWhenDisconnected = disconnected
            let request = try Sample.request("GET", "https://shop.example/a", ["Cache-Control": request])
            let stored = try Sample.stored(["Cache-Control": directives])
            return policy.staleAnswer(stored, to: request, now: Sample.after(10), failure)?.fields.values("age") == [
                "10"
            ]
        }
        #expect(try !answers("max-age=1") && answers("max-age=1", disconnected: true))
        #expect(try !answers("max-age=1", "", .error, disconnected: true))
        #expect(try answers("max-age=1, stale-if-error=9") && !answers("max-age=1, stale-if-error=8"))
        #expect(try answers("max-age=1", "stale-if-error=9") && !answers("max-age=1", "stale-if-error=8"))
        for directive in ["must-revalidate", "no-cache"] {
            #expect(try !answers(Octets("max-age=1, stale-if-error=99, \(directive)"), disconnected: true))
        }
        // These forbid it to shared caches. So the policy alone does not permit it, but the server and the client do.
        for directive in ["proxy-revalidate", "s-maxage=1", "s-maxage=99", "s-maxage", "Proxy-Revalidate=x"] {
            let (stale, fresh) = (Octets("max-age=1, \(directive)"), Octets("max-age=99, \(directive)"))
            #expect(try !answers(stale, disconnected: true), "\(directive)")
            #expect(try answers(Octets("\(stale), stale-if-error=9"), disconnected: true), "\(directive)")
            #expect(try answers(stale, "stale-if-error=9", disconnected: true), "\(directive)")
            #expect(try answers(fresh, disconnected: true), "\(directive)")
        }
        #expect(try answers("max-age=99") && !answers("max-age=99", "no-cache"))
        // The client wants no stale response.
        for request: Octets in ["max-age=0", "max-age=9", "no-cache"] {
            #expect(try !answers("max-age=1, stale-if-error=99", request))
        }
        #expect(try answers("max-age=1, stale-if-error=99", "max-age=0, stale-if-error=9"))
        #expect(try answers("max-age=1, stale-if-error=99", "max-age=10, max-stale"))
        #expect(try answers("max-age=99", "max-age=10") && !answers("max-age=99", "max-age=9"))
        let reload = try Sample.request("GET", "https://shop.example/a", ["Cache-Control": "max-age=0"])
        let fresh = try Sample.stored(["Cache-Control": "max-age=99"])
        #expect(CachingPolicy().staleAnswer(fresh, to: reload, now: Sample.start, .error) == nil)
    }

    @Test("An incomplete response does not answer for a server that fails")
    func incomplete() throws {
        let fields: MessageFields = ["Cache-Control": "max-age=99, stale-if-error=99", "Content-Range": "bytes 0-3/10"]
        let storable = CachingPolicy().storing(Sample.response(206, fields), for: try Sample.request()).response
        let stored = try #require(storable?.received(bodyLength: 4, isComplete: true))
        func answer(_ fields: MessageFields) throws -> Int? {
            let request = try Sample.request("GET", "https://shop.example/a", fields)
            return CachingPolicy().staleAnswer(stored, to: request, now: Sample.after(9), .unreachable)?.status
        }
        #expect(try answer([:]) == nil)
        #expect(try answer(["Range": "bytes=0-3"]) == 206)
    }
}
