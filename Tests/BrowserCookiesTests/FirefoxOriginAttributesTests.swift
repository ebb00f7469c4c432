import CookieModel
import Testing

@testable import BrowserCookies

@Suite("Firefox's origin attributes")
struct FirefoxOriginAttributesTests {
    @Test(
        "Origin attributes give container, isolation and partition",
        arguments: [
            ("", 0, false, nil), ("^userContextId=3", 3, false, nil), ("^privateBrowsingId=1", 0, true, nil),
            ("^firstPartyDomain=a.test", 0, true, nil), ("^firstPartyDomain=", 0, false, nil),
            ("^partitionKey=%28https%2Ca.test%29", 0, false, "https://a.test"),
            ("^partitionKey=%28https%2Cother.test%29", 0, false, "https://other.test cross-site"),
            ("^userContextId=2&partitionKey=%28http%2Ca.test%2C8443%29", 2, false, "http://a.test"),
            ("^partitionKey=%28https%2Ca.test%2Cf%29", 0, false, "https://a.test cross-site"),
            ("^unknown=1", 0, false, nil),
        ])
    func parsing(text: String, container: Int, isIsolated: Bool, partition: String?) throws {
        let attributes = try #require(FirefoxOriginAttributes(text))
        #expect(attributes.container == container && attributes.isIsolated == isIsolated)
        #expect(attributes.partitionKey(ofCookieFor: "app.a.test")?.serialized == partition)
    }

    @Test(
        "Attributes that Firefox does not write are rejected",
        arguments: [
            "x", "^x", "^userContextId=x", "^partitionKey=a.test", "^partitionKey=%28a%29", "^partitionKey=%2",
            "^partitionKey=%28ftp%2Ca.test%29", "^partitionKey=%28https%2C%29", "^partitionKey=%zz",
        ])
    func malformed(text: String) {
        #expect(FirefoxOriginAttributes(text) == nil)
    }
}
