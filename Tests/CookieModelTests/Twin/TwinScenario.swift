import CookieModel
import TestSupport

/// One random scenario: rules, and what happens under them. Made so that cookies collide often.
struct TwinScenario {
    enum Step {
        case receive(Octets, RequestContext)
        case send(RequestContext)
        case advance(seconds: Int64)
        case endSession
    }

    let policy: CookiePolicy
    let steps: [Step]

    private static let worlds = [
        ["example.com", "www.example.com", "a.www.example.com", "other.com"],
        ["github.io", "user.github.io", "x.user.github.io", "other.github.io", "io"],
        ["co.uk", "shop.co.uk", "www.shop.co.uk", "uk"],
        ["localhost", "app.localhost", "x.app.localhost", "intranet"],
        ["127.0.0.1", "[::1]", "10.0.0.1", "0.0.1"],
        ["example.com.", "example.com", "www.example.com."],
        ["xn--bcher-kva.de", "www.xn--bcher-kva.de", "bücher.de", "BÜCHER.DE"],
        ["city.kawasaki.jp", "a.city.kawasaki.jp", "b.kawasaki.jp", "a.b.kawasaki.jp"],
    ]
    private static let schemes = ["http", "http", "https", "https", "https", "ws", "wss"]
    private static let paths = ["", "/", "/a", "/a/", "/a/b", "/ab", "/a/b/c", "/A", "/%61", "/é", "/a;b", "/a?/b/"]

    init(_ random: inout SeededGenerator) {
        var policy = CookiePolicy()
        if random.once(in: 2) {
            policy.profile = random.once(in: 2) ? .browser : CookieProfile(rawValue: UInt32(random.below(64)))
        }
        if random.once(in: 4) { policy.secureConnections = .cryptographic }
        if random.once(in: 4) { policy.laxAllowingUnsafeAge = 120 }
        if random.once(in: 8) { policy.considersRedirectChain = true }
        if random.once(in: 2) { policy.limits = TwinScenario.limits(&random) }
        self.policy = policy
        let world = random.pick(TwinScenario.worlds)
        // In a tame scenario most cookies get in, so that there is something to replace, overlay, sort and send.
        let isTame = !random.once(in: 3)
        let hosts = isTame ? Array(world.prefix(2)) : world
        let contexts = (0..<3).map { _ in TwinScenario.context(hosts, isTame: isTame, &random) }
        var lines = TwinLine(hosts: hosts, isTame: isTame)
        steps = (0..<(4 + random.below(7))).map { _ in
            let isOther = random.once(in: isTame ? 5 : 3)
            let context =
                isOther ? TwinScenario.context(world, isTame: false, &random) : random.pick(contexts)
            return switch random.below(16) {
            case 0...8: .receive(lines.next(&random), context)
            case 9...13: .send(context)
            case 14: .advance(seconds: random.pick([0, 1, 59, 60, 120, 121, 3600, 34_560_000, 34_560_001]))
            default: random.once(in: 3) ? .endSession : .send(context)
            }
        }
    }

    /// Limits that a few lines pass.
    private static func limits(_ random: inout SeededGenerator) -> CookieLimits {
        var limits = CookieLimits()
        if random.once(in: 2) { limits.domainCookies = random.pick([nil, 1, 2, 3]) }
        if random.once(in: 2) { limits.totalCookies = random.pick([1, 2, 3, 4]) }
        if random.once(in: 2) { limits.partitionCookies = random.pick([nil, 1, 2]) }
        if random.once(in: 2) { limits.partitionOctets = random.pick([nil, 2, 5, 9]) }
        return limits
    }

    private static func url(_ hosts: [String], _ random: inout SeededGenerator) -> RequestURL {
        let text =
            "\(random.pick(schemes))://\(random.pick(hosts))\(random.pick(["", "", ":8080"]))\(random.pick(paths))"
        guard let url = try? RequestURL(text) else { return TwinScenario.url(["example.com"], &random) }
        return url
    }

    private static func context(
        _ hosts: [String], isTame: Bool, _ random: inout SeededGenerator
    ) -> RequestContext {
        var context = RequestContext(url: url(hosts, &random))
        if random.once(in: 8) { context.interface = .script }
        if isTame { return context }
        if random.once(in: 5) { context.interface = .script }
        if random.once(in: 3) {
            context.method = random.pick(["POST", "POST", "PUT", "HEAD", "OPTIONS", "TRACE", "DELETE", "get"])
        }
        if random.once(in: 2) {
            if random.once(in: 2) { context.topLevel = url(hosts, &random) }
            context.isTopLevelNavigation = random.once(in: 2)
            switch random.below(6) {
            case 0: context.initiator = .user
            case 1: context.initiator = .opaque
            case 2, 3: context.initiator = .origin(url(hosts, &random))
            default: break
            }
        }
        if random.once(in: 6) { context.redirects = (0...random.below(2)).map { _ in url(hosts, &random) } }
        return context
    }
}
