import CookieModel
import Testing

@Suite("Limits of one request")
struct RequestLimitTests {
    @Test(
        "The first cookies of the order go; from the first that has no room on, all stay, with the reason",
        arguments: [
            (nil, nil, "long=12345; bb=22; c=3"), (3, nil, "long=12345; bb=22; c=3"), (2, nil, "long=12345; bb=22"),
            (0, nil, ""), (nil, 22, "long=12345; bb=22; c=3"), (nil, 21, "long=12345; bb=22"),
            (nil, 17, "long=12345; bb=22"), (nil, 16, "long=12345"), (nil, 10, "long=12345"), (nil, 9, ""),
            (1, 9, ""), (1, 100, "long=12345"),
        ] as [(Int?, Int?, String)])
    func limits(cookies: Int?, octets: Int?, expected: String) throws {
        var policy = CookiePolicy()
        policy.limits.requestCookies = cookies
        policy.limits.requestOctets = octets
        var session = Session(policy)
        for line in ["long=12345; Path=/x", "bb=22", "c=3", "other=1; Path=/other"] as [Octets] {
            try session.set(line)
        }
        let context = try Request("https://example.com/x").context
        var copy = session.store
        let retrieval = session.store.retrieve(for: context, now: session.now)
        #expect(retrieval.cookieString.description == expected)
        #expect(copy.cookieString(for: context, now: session.now).description == expected)
        let sent = retrieval.included.count
        #expect(retrieval.excluded.count { $0.reasons == [.requestLimit] } == 3 - sent)
        #expect(retrieval.excluded.count { $0.reasons == [.pathMismatch] } == 1)
    }
}
