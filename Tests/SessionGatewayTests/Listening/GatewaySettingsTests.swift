import CookieModel
import GatewayModel
import PublicSuffix
import Testing

@Suite("Settings of a gateway")
struct GatewaySettingsTests {
    @Test("A browser's requests pass through a proxy on this machine unread, unless something else is chosen")
    func defaults() {
        let settings = GatewaySettings()
        #expect(settings.host == "127.0.0.1" && settings.port == 0 && settings.origins.isEmpty)
        #expect(settings.client == .browser && settings.cookies == .mirror && !settings.isOffline)
        #expect(settings.authorityHosts.isEmpty && settings.legacyTLS.isEmpty)
    }

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
        var settings = GatewaySettings()
        settings.intercepted = try intercepted.map { try HostPattern($0) }
        settings.interceptedSites = Set(sites.map { Octets($0) })
        settings.bypassed = try bypassed.map { try HostPattern($0) }
        let site = try #require(WebHost("shop.example"))
        #expect(settings.interceptsSite(site) == isWhole)
        // Then no host is left out.
        for name in ["shop.example", "www.shop.example", "api.shop.example", "a.b.shop.example", "x.pay.shop.example"] {
            let host = try #require(WebHost(name))
            #expect(!isWhole || settings.intercepts(host, .bundled), "\(name)")
        }
        #expect(!settings.interceptsSite(try #require(WebHost("other.example"))))
    }
}
