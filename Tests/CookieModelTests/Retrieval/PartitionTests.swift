import Testing

@testable import CookieModel

@Suite("Partitioned cookies (CHIPS)")
struct PartitionTests {
    private static let url = "https://embed.example/"

    private func key(of request: Request) throws -> String? {
        var session = Session()
        #expect(try session.set("a=1; Secure; SameSite=None; Partitioned", in: request) == "stored")
        return session.store.cookies.first?.id.partitionKey?.serialized
    }

    @Test(
        "The key is the site in the address bar, and whether another site stood in between",
        arguments: [
            (Request(url), "https://embed.example"),
            (Request(url, on: "https://www.shop.com/"), "https://shop.com cross-site"),
            (Request(url, on: "http://www.shop.com:81/a"), "http://shop.com cross-site"),
            (Request(url, on: "https://a.embed.example/"), "https://embed.example"),
            (
                Request(url, on: "https://a.embed.example/", by: "https://other.com/"),
                "https://embed.example cross-site"
            ),
            (Request(url, on: "https://a.embed.example/", by: "opaque"), "https://embed.example cross-site"),
            (Request(url, on: "https://www.shop.com/", by: url), "https://shop.com cross-site"),
            (Request(url, on: "https://www.shop.com/", navigates: true), "https://embed.example"),
            (Request(url, via: .script, on: "https://www.shop.com/"), "https://shop.com cross-site"),
            (Request("wss://embed.example/", on: url), "https://embed.example"),
            (Request(url, on: "https://user.github.io/"), "https://user.github.io cross-site"),
            (Request(url, on: "https://127.0.0.1/"), "https://127.0.0.1 cross-site"),
        ])
    func keys(request: Request, key: String) throws {
        #expect(try self.key(of: request) == key)
    }

    @Test("A partition's cookies are seen in it alone, unpartitioned ones everywhere")
    func isolation() throws {
        var session = Session()
        let sites = ["https://shop.com/", "https://news.com/", "http://shop.com/"]
        for (number, site) in sites.enumerated() {
            let line = Octets("a=\(number); Secure; SameSite=None; Partitioned")
            #expect(try session.set(line, in: Request(PartitionTests.url, on: site)) == "stored")
        }
        try session.set("b=9; Secure; SameSite=None", at: PartitionTests.url)
        for (number, site) in sites.enumerated() {
            let request = Request(PartitionTests.url, on: site)
            #expect(try session.sent(in: request) == "a=\(number); b=9")
            #expect(try session.kept(in: request) == ["a: partition-mismatch", "a: partition-mismatch"])
        }
        #expect(try session.sent(to: PartitionTests.url) == "b=9")
        #expect(
            try session.sent(in: Request(PartitionTests.url, on: "https://www.shop.com/", by: "https://x.com/"))
                == "a=0; b=9")
    }

    @Test("The bit parts a page's own frames from those within a foreign frame")
    func ancestorBit() throws {
        var session = Session()
        let own = Request(PartitionTests.url, on: PartitionTests.url)
        let nested = Request(PartitionTests.url, on: PartitionTests.url, by: "https://other.com/")
        try session.set("a=1; Secure; SameSite=None; Partitioned", in: own)
        try session.set("a=2; Secure; SameSite=None; Partitioned", in: nested)
        #expect(try session.sent(in: own) == "a=1")
        #expect(try session.sent(in: nested) == "a=2")
    }

    @Test("Partitioned needs Secure, and changes no other rule")
    func needsSecure() throws {
        var session = Session()
        #expect(try session.set("a=1; Partitioned") == "rejected: partitioned-insecure")
        #expect(
            try session.set("a=1; Partitioned; SameSite=None")
                == "rejected: same-site-none-insecure, partitioned-insecure")
        #expect(
            try session.set("a=1; Partitioned; Secure", in: Request(PartitionTests.url, on: "https://shop.com/"))
                == "rejected: same-site-cross-site")
        #expect(try session.set("a=1; Partitioned; Secure", at: "http://localhost/") == "stored")
    }

    @Test("Only the cookie of the same partition is replaced or deleted")
    func replacement() throws {
        var session = Session()
        let embedded = Request(PartitionTests.url, on: "https://shop.com/")
        try session.set("a=1; Secure; SameSite=None", in: embedded)
        #expect(try session.set("a=2; Secure; SameSite=None; Partitioned", in: embedded) == "stored")
        #expect(try session.set("a=3; Secure; SameSite=None; Partitioned", in: embedded) == "replaced")
        #expect(try session.sent(in: embedded) == "a=1; a=3")
        #expect(try session.set("a=; Max-Age=0; Secure; SameSite=None; Partitioned", in: embedded) == "deleted")
        #expect(try session.sent(in: embedded) == "a=1")
    }

    @Test(
        "A key is read back from its text",
        arguments: [
            PartitionKey(topLevelSite: "https://shop.com", hasCrossSiteAncestor: false),
            PartitionKey(topLevelSite: "https://shop.com", hasCrossSiteAncestor: true),
            PartitionKey(topLevelSite: "http://[::1]", hasCrossSiteAncestor: true),
        ])
    func serialized(key: PartitionKey) {
        #expect(PartitionKey(serialized: key.serialized) == key)
        #expect(PartitionKey(serialized: "") == nil)
    }
}
