import CookieModel
import TestSupport

/// Responses and requests that meet each other often: few names, hosts and paths, every attribute.
struct RandomScenario {
    enum Step {
        case receive([ReceivedResponse])
        case record(CookieRecord)
        case send(RequestContext)
        case advance(Int64)
    }

    private static let hosts = [
        "example.com", "www.example.com", "a.b.example.com", "example.org", "github.io", "x.github.io", "y.github.io",
        "co.uk", "shop.co.uk", "localhost", "127.0.0.1", "[::1]", "a.ck", "b.a.ck", "example.com.",
        "compute.amazonaws.com",
        "amazonaws.com", "z.compute.amazonaws.com",
    ]
    private static let paths = ["/", "/a", "/a/", "/a/b", "/a/b/c;x", "/ab", "/%61"]
    private static let names = ["a", "b", "c", "", "__Secure-a", "__Host-a", "__host-b", "\u{E9}", "a b"]
    private static let attributes = [
        "Secure", "HttpOnly", "Partitioned", "SameSite=Lax", "SameSite=Strict", "SameSite=None", "SameSite=x",
        "Max-Age=0", "Max-Age=-1", "Max-Age=50", "Max-Age=5000", "Max-Age=x", "Path=/", "Path=/a", "Path=a",
        "Path=/a/b",
        "Domain=example.com", "Domain=.example.com", "Domain=github.io", "Domain=x.github.io", "Domain=", "Domain=com",
        "Domain=ck", "Domain=a.ck", "Domain=127.0.0.1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "Expires=Thu, 01 Jan 2099 00:00:00 GMT", "Domain=amazonaws.com", "Other=1",
    ]

    private var generator: SeededGenerator

    init(seed: Int) {
        generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
    }

    mutating func next() throws -> Step {
        switch number(0...9) {
        case 0...4:
            return .receive(try (0..<number(1...3)).map { _ in try response() })
        case 5:
            return .record(record())
        case 6...8:
            return .send(try context())
        default:
            return .advance([0, 1, 49, 100, 3601, 6000].randomElement(using: &generator) ?? 0)
        }
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    private mutating func isOneIn(_ count: Int) -> Bool {
        number(1...count) == 1
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(0...(elements.count - 1))]
    }

    private mutating func url() throws -> RequestURL {
        try RequestURL(
            "\(pick(["http", "https", "https"]))://\(pick(RandomScenario.hosts))\(pick(RandomScenario.paths))")
    }

    private mutating func context() throws -> RequestContext {
        var context = RequestContext(url: try url())
        if isOneIn(4) {
            context.topLevel = try url()
            context.isTopLevelNavigation = isOneIn(3)
            context.initiator = pick([.topLevel, .user, .opaque, .origin(try url())])
        }
        if isOneIn(5) { context.interface = .script }
        if isOneIn(5) { context.method = "POST" }
        return context
    }

    private mutating func response() throws -> ReceivedResponse {
        let context = try context()
        let lines = (0..<number(1...4)).map { _ in line() }
        return ReceivedResponse(context: context, status: pick([200, 302, 404, 103]), setCookie: lines)
    }

    private mutating func value() -> [UInt8] {
        (0..<number(0...6)).map { _ in isOneIn(40) ? 1 : UInt8.random(in: 0x20...0xFF, using: &generator) }
    }

    private mutating func line() -> Octets {
        var bytes = Array(pick(RandomScenario.names).utf8)
        if !isOneIn(10) { bytes.append(0x3D) }
        bytes += value()
        for _ in 0..<number(0...4) {
            bytes += Array("; ".utf8) + Array(pick(RandomScenario.attributes).utf8)
        }
        return Octets(bytes)
    }

    private mutating func record() -> CookieRecord {
        CookieRecord(
            name: Octets(pick(RandomScenario.names)), value: Octets(value()),
            domain: pick(RandomScenario.hosts + ["", "a b"]),
            isHostOnly: isOneIn(2), path: Octets(pick(RandomScenario.paths + ["x"])), isSecure: isOneIn(2),
            isHTTPOnly: isOneIn(3), sameSite: pick(SameSite.allCases),
            expiry: pick([nil, Timestamp(seconds: 0), Given.now.advanced(bySeconds: 400)]))
    }
}
