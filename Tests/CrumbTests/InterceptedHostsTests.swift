import CookieModel
import SessionOperations
import Testing

@Suite("Hosts that a gateway decrypts")
struct InterceptedHostsTests {
    private static let hosts: [(intercepted: [String], sites: [String], bypassed: [String], isWhole: Bool)] = [
        (["shop.example", "*.shop.example"], [], [], true), ([], ["shop.example"], [], true),
        (["*.shop.example"], [], [], false), (["shop.example"], [], [], false),
        (["shop.example", "*.www.shop.example"], [], [], false), (["shop.example", "*.other.example"], [], [], false),
        // However unlikely the name is, a server may have it.
        (["shop.example", "*.shop.example"], [], ["api.shop.example"], false),
        (["shop.example", "*.shop.example"], [], ["crumb-witness-not.shop.example"], false),
        (["shop.example", "*.shop.example"], [], ["*.pay.shop.example"], false),
        (["shop.example", "*.shop.example"], [], ["*.shop.example"], false),
        ([], ["shop.example"], ["shop.example"], false), ([], ["shop.example"], ["a.b.shop.example"], false),
        (["shop.example", "*.shop.example"], [], ["notshop.example", "*.notshop.example"], true),
    ]

    @Test("A site is seen whole if its patterns say so for every host, and no exception is below it", arguments: hosts)
    func sites(intercepted: [String], sites: [String], bypassed: [String], isWhole: Bool) throws {
        let hosts = InterceptedHosts(
            try intercepted.map { try HostPattern($0) }, sites: Set(sites.map { Octets($0) }),
            bypassing: try bypassed.map { try HostPattern($0) })
        let site = try #require(WebHost("shop.example"))
        #expect(hosts.containsSite(site) == isWhole)
        // Then no host is left out.
        for name in ["shop.example", "www.shop.example", "api.shop.example", "a.b.shop.example", "x.pay.shop.example"] {
            let host = try #require(WebHost(name))
            #expect(!isWhole || hosts.contains(host), "\(name)")
        }
        #expect(!hosts.containsSite(try #require(WebHost("other.example"))))
    }
}
