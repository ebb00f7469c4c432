import Synchronization

/// Five hops over three sites on loopback, for a POST with a body: 307 to the same origin, 307 to another site, 302 to
/// a third one, 303 back to the first. Each answer sets cookies.
public final class CrossSiteChain: Sendable {
    /// A request as it came, with the name of the site that it came to.
    public typealias Asked = (site: String, request: LoopbackServer.Request)

    private final class Log: Sendable {
        let origins = Mutex<[String: String]>([:])
        let asked = Mutex<[Asked]>([])

        func url(_ site: String, _ path: String) -> String { (origins.withLock { $0[site] } ?? "") + path }
    }

    private let log = Log()
    private let servers: [LoopbackServer]

    /// The requests so far, in order.
    public var asked: [Asked] { log.asked.withLock { $0 } }

    /// Servers at `127.0.0.1` (site a), `localhost` (site b) and `127.0.0.2` (site c).
    public init() throws {
        let log = log
        let places = [
            ("a", "127.0.0.1", "127.0.0.1"), ("b", "127.0.0.1", "localhost"), ("c", "127.0.0.2", "127.0.0.2"),
        ]
        servers = try places.map { site, address, host in
            let server = try LoopbackServer(address: address) { request in
                log.asked.withLock { $0.append((site, request)) }
                return CrossSiteChain.answer(site, request.target, log.url)
            }
            log.origins.withLock { $0[site] = "http://\(host):\(server.port)" }
            return server
        }
    }

    /// A URL of a site.
    public func url(_ site: String, _ path: String) -> String { log.url(site, path) }

    private static func answer(
        _ site: String, _ path: String, _ url: (String, String) -> String
    ) -> LoopbackServer.Response {
        switch (site, path) {
        case ("a", "/1"):
            LoopbackServer.Response(
                307, setCookie: ["a=1; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "deep=1; Path=/deep"],
                location: "/2")
        case ("a", "/2"): LoopbackServer.Response(307, setCookie: ["a=2; Path=/"], location: url("b", "/3"))
        case ("b", "/3"): LoopbackServer.Response(302, setCookie: ["b=1; Path=/"], location: url("c", "/4"))
        case ("c", "/4"):
            LoopbackServer.Response(303, setCookie: ["c=1; HttpOnly", "x=1; Domain=a.test"], location: url("a", "/5"))
        case ("a", "/5"): LoopbackServer.Response(200, setCookie: ["end=1; Path=/"], body: "arrived")
        case (_, "/loop"): LoopbackServer.Response(302, setCookie: ["looped=1"], location: "/loop")
        case (_, "/app"):
            LoopbackServer.Response(302, setCookie: ["app=1"], location: "com.example.app:/callback?code=1")
        default: LoopbackServer.Response(404)
        }
    }

    /// What a request must have been: its site, method and path, Cookie and Authorization fields, and body.
    public typealias Expectation = (site: String, line: String, cookie: [String], authorization: [String], body: String)

    /// What every client must have sent for a POST of `payload` to `/1` of site a with `Authorization: Bearer own` and a
    /// Content-Type, and nothing in the jar.
    public static let expected: [Expectation] = [
        ("a", "POST /1", [], ["Bearer own"], "payload"), ("a", "POST /2", ["a=1"], ["Bearer own"], "payload"),
        ("b", "POST /3", [], [], "payload"), ("c", "GET /4", [], [], ""), ("a", "GET /5", ["a=2"], [], ""),
    ]
}
