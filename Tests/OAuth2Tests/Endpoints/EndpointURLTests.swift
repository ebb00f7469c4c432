import OAuth2
import Testing

@Suite("EndpointURL")
struct EndpointURLTests {
    @Test(
        "An endpoint's URL is divided into the parts that a request needs",
        arguments: [
            ("https://issuer.example/token", "https", "issuer.example", "/token"),
            ("HTTPS://Issuer.Example:8443/T?x=1", "https", "issuer.example:8443", "/T?x=1"),
            ("https://issuer.example", "https", "issuer.example", "/"),
            ("https://issuer.example?x=/", "https", "issuer.example", "/?x=/"),
            ("https://[2001:DB8::1]:1/a", "https", "[2001:db8::1]:1", "/a"),
            ("https://issuer.example/a/../b;c=%20@d:e", "https", "issuer.example", "/a/../b;c=%20@d:e"),
        ])
    func parts(_ text: String, _ scheme: String, _ authority: String, _ path: String) throws {
        let url = try EndpointURL(text)
        #expect(url.scheme == scheme)
        #expect(url.authority == authority)
        #expect(url.path == path)
        #expect(try EndpointURL(url.description) == url)
    }

    @Test(
        "An endpoint on this machine may use plain HTTP",
        arguments: [
            "http://127.0.0.1/token", "http://127.0.0.1:4593/token", "http://127.255.1.2", "http://localhost:1/",
            "http://LOCALHOST/", "http://idp.localhost/", "http://[::1]:8080/t",
        ])
    func loopback(_ text: String) throws {
        #expect(try EndpointURL(text).scheme == "http")
    }

    @Test(
        "An endpoint elsewhere may not use plain HTTP, unless that is requested",
        arguments: [
            "http://issuer.example/token", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/",
            "http://notlocalhost/", "http://128.0.0.1/", "http://127.1/", "http://127.0.0.256/", "http://127.0.0.0.1/",
            "http://0.0.0.0/", "http://[::]/", "http://[::2]/", "http://10.0.0.1/", "http://127..0.1/",
        ])
    func insecure(_ text: String) throws {
        #expect(thrown { () throws(OAuth2Error) in try EndpointURL(text) }?.code == .insecureEndpoint)
        #expect(try EndpointURL(text, dangerouslyAllowingPlainHTTP: true).scheme == "http")
    }

    @Test(
        "An endpoint is an absolute URL with nothing that could hide its destination",
        arguments: [
            "", "token", "/token", "issuer.example/token", "https:", "https:/issuer.example", "https://",
            "https:///token",
            "https://?x", "https://:443/", "ftp://issuer.example/", "file:///etc/passwd", "javascript:alert(1)",
            "https://user@issuer.example/", "https://user:pw@issuer.example/", "http://127.0.0.1@evil.example/",
            "http://127.0.0.1\\@evil.example/", "https://issuer.example/#f", "https://issuer.example#f",
            "https://issuer.example:/", "https://issuer.example:x/", "https://issuer.example:65536/",
            "https://issuer.example:+80/", "https://a:1:2/", "https://[::1/", "https://[]/", "https://[::1]x/",
            "https://[::1%25lo]/", "https://bücher.example/", "https://issuer.example/ä", "https://issuer.example/a b",
            "https://issuer.example/a\r\nX: y", " https://issuer.example/", "https://issuer%2eexample/",
            "https://issuer.example/\"", "https://a,b/", "https://a/<b>",
        ])
    func invalid(_ text: String) {
        for isDangerous in [false, true] {
            let error = thrown { () throws(OAuth2Error) in
                try EndpointURL(text, dangerouslyAllowingPlainHTTP: isDangerous)
            }
            #expect(error?.code == .invalidEndpoint)
        }
    }
}
