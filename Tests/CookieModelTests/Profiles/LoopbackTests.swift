import Testing

@testable import CookieModel

@Suite("This machine itself as a secure connection")
struct LoopbackTests {
    static let loopback = [
        "http://localhost/", "http://localhost:8080/", "http://LOCALHOST/", "http://localhost./",
        "http://app.localhost/",
        "http://a.b.localhost./", "ws://localhost/", "http://127.0.0.1/", "http://127.1/", "http://127.255.255.254/",
        "http://0x7f000001/", "http://017700000001/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "ws://[::1]:3000/",
    ]
    static let others = [
        "http://example.com/", "http://localhost.com/", "http://notlocalhost/", "http://localhost.localdomain/",
        "http://126.0.0.1/", "http://128.0.0.1/", "http://10.0.0.1/", "http://192.168.0.1/", "http://0.0.0.0/",
        "http://[::]/",
        "http://[::2]/", "http://[fe80::1]/", "http://127.0.0.1.example.com/", "http://local/", "http://printer.local/",
    ]

    private func isSecure(_ url: String, _ connections: CookiePolicy.SecureConnections) throws -> Bool {
        var policy = CookiePolicy()
        policy.secureConnections = connections
        var session = Session(policy)
        let outcome = try session.set("a=1; Secure", at: url)
        #expect(["stored", "rejected: secure-from-insecure"].contains(outcome))
        #expect(try session.sent(to: url) == (outcome == "stored" ? "a=1" : ""))
        return outcome == "stored"
    }

    @Test("Loopback hosts are secure by the default policy, and not by the strict one", arguments: loopback)
    func loopbackHosts(url: String) throws {
        #expect(try RequestURL(url).host.isLoopback)
        #expect(try isSecure(url, .cryptographicOrLoopback))
        #expect(try !isSecure(url, .cryptographic))
        #expect(try isSecure(url.replacingScheme, .cryptographic))
    }

    @Test("A host outside the loopback range is not a loopback host", arguments: others)
    func otherHosts(url: String) throws {
        #expect(try !RequestURL(url).host.isLoopback)
        #expect(try !isSecure(url, .cryptographicOrLoopback))
        #expect(try isSecure(url.replacingScheme, .cryptographicOrLoopback))
    }

    @Test("Nothing overlays a Secure cookie on a connection that counts as secure")
    func overlay() throws {
        for (connections, outcome) in [
            (CookiePolicy.SecureConnections.cryptographicOrLoopback, "replaced"),
            (.cryptographic, "rejected: overwrite-secure"),
        ] {
            var policy = CookiePolicy()
            policy.secureConnections = connections
            var session = Session(policy)
            try session.set("a=1; Secure", at: "https://localhost/")
            #expect(try session.set("a=2", at: "http://localhost/") == outcome)
        }
    }
}

extension String {
    /// The same URL by https or wss.
    fileprivate var replacingScheme: String {
        hasPrefix("ws:") ? "wss" + dropFirst(2) : "https" + dropFirst(4)
    }
}
