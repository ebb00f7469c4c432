import Testing

@testable import WebPrimitives

@Suite("URLs as browsers read them")
struct RequestURLTests {
    @Test(
        "A URL is serialized as the URL Standard does",
        arguments: [
            // Schemes and slashes.
            ("https://example.com", "https://example.com/"), ("HTTPS://EXAMPLE.COM/A", "https://example.com/A"),
            ("wss://example.com/a", "wss://example.com/a"),
            ("http:example.com", "http://example.com/"), ("http:/example.com", "http://example.com/"),
            ("http:///example.com", "http://example.com/"),
            ("http:\\\\example.com\\a\\b", "http://example.com/a/b"), ("http:/\\/\\example.com", "http://example.com/"),
            // White space around and within.
            ("  https://example.com/ ", "https://example.com/"),
            ("\u{0}\u{1F} https://example.com/\u{1}", "https://example.com/"),
            ("ht\ntp\t:/\r/exa\nmple.com/a\tb", "http://example.com/ab"),
            ("https://example.com/a b ", "https://example.com/a%20b"),
            ("https://example.com/a?b c", "https://example.com/a?b%20c"),
            // Credentials.
            ("https://user@example.com/", "https://example.com/"),
            ("https://user:pass@example.com:81/", "https://example.com:81/"),
            ("https://:@example.com/", "https://example.com/"),
            ("https://a@b@example.com/", "https://example.com/"),
            ("https://other.com%40@example.com/", "https://example.com/"),
            ("https://[::1]@example.com/", "https://example.com/"),
            ("https://other.com\\@example.com/", "https://other.com/@example.com/"),
            ("https://other.com?@example.com/", "https://other.com/?@example.com/"),
            ("https://other.com#@example.com/", "https://other.com/"),
            ("https://a:b:c@example.com/", "https://example.com/"),
            ("https://example.com/@other.com", "https://example.com/@other.com"),
            // Ports.
            ("https://example.com:443/", "https://example.com/"), ("http://example.com:80/", "http://example.com/"),
            ("ws://example.com:80/", "ws://example.com/"), ("wss://example.com:443/", "wss://example.com/"),
            ("http://example.com:443/", "http://example.com:443/"), ("https://example.com:/", "https://example.com/"),
            ("https://example.com:0/", "https://example.com:0/"),
            ("https://example.com:00000000443/", "https://example.com/"),
            ("https://example.com:65535/", "https://example.com:65535/"), ("https://[::1]:81/", "https://[::1]:81/"),
            ("https://example.com:8\t0/", "https://example.com:80/"),
            // Query and fragment.
            ("https://example.com?a", "https://example.com/?a"), ("https://example.com/?", "https://example.com/?"),
            ("https://example.com/?a#b?c", "https://example.com/?a"), ("https://example.com#a", "https://example.com/"),
            ("https://example.com/#/../x", "https://example.com/"),
            ("https://example.com/?a'b\"c<d>é`{}|^\\", "https://example.com/?a%27b%22c%3Cd%3E%C3%A9`{}|^\\"),
            ("https://example.com?/../x", "https://example.com/?/../x"),
        ])
    func serialized(text: String, url: String) throws {
        #expect(try RequestURL(text).description == url)
        #expect(try RequestURL(url) == RequestURL(text))
        #expect(try RequestURL(url).hashValue == RequestURL(text).hashValue)
    }

    @Test(
        "Dot segments are resolved, however they are spelled",
        arguments: [
            ("/", "/"), ("/a", "/a"), ("/a/", "/a/"), ("/.", "/"), ("/./", "/"), ("/..", "/"), ("/../", "/"),
            ("/../../a", "/a"), ("/a/.", "/a/"), ("/a/./b", "/a/b"), ("/a/..", "/"), ("/a/../", "/"),
            ("/a/../b", "/b"), ("/a/b/..", "/a/"), ("/a/b/../..", "/"), ("/a/b/../../..", "/"), ("/a/b/../c", "/a/c"),
            ("/%2e", "/"), ("/%2E%2e/a", "/a"), ("/a/.%2e", "/"), ("/a/%2E.", "/"), ("/a/%2e/b", "/a/b"),
            ("/...", "/..."), ("/.a", "/.a"), ("/a.", "/a."), ("/..a", "/..a"), ("/a..", "/a.."),
            ("/%2e%2e%2e", "/%2e%2e%2e"), ("/.%2", "/.%2"), ("/%2f..", "/%2f.."), ("//", "//"), ("//a", "//a"),
            ("/a//b", "/a//b"), ("/a//..", "/a/"), ("/a//../b", "/a/b"), ("//..", "/"), ("//../a", "/a"),
            ("/a/;..", "/a/;.."), ("/a/..;/b", "/a/..;/b"), ("/a\\..\\b", "/b"), ("/a/.\\b", "/a/b"),
            ("/a/b?/../c", "/a/b"), ("/a/b#/../c", "/a/b"), ("/a/.?", "/a/"), ("/a/..#", "/"),
        ])
    func dotSegments(path: String, normalized: String) throws {
        let url = try RequestURL("https://example.com" + path)
        #expect(url.path.description == normalized)
        #expect(try RequestURL("https://example.com" + url.path.description).path == url.path)
    }

    @Test("A path has those octets percent-encoded that a browser encodes, and no others")
    func percentEncoding() throws {
        let unreadable: [UInt8] = [0x22, 0x3C, 0x3E, 0x5E, 0x60, 0x7B, 0x7D]
        for byte in UInt8.min...UInt8.max {
            let url = try RequestURL(Octets(Array("https://example.com/a".utf8) + [byte] + Array("b".utf8)))
            switch byte {
            case 0x09, 0x0A, 0x0D: #expect(url.path == "/ab")
            case 0x23, 0x3F: #expect(url.path == "/a")
            case 0x5C: #expect(url.path == "/a/b")
            case _ where byte <= 0x20 || byte >= 0x7F || unreadable.contains(byte):
                let digits = String(byte, radix: 16, uppercase: true)
                #expect(url.path.description == "/a%\(digits.utf8.count == 1 ? "0" : "")\(digits)b")
            default: #expect(url.path == Octets(Array("/a".utf8) + [byte] + Array("b".utf8)))
            }
        }
        #expect(try RequestURL("https://example.com/é%é%zz%c3").path == "/%C3%A9%%C3%A9%zz%c3")
    }

    @Test(
        "A URL that no request can have is an error with a reason",
        arguments: [
            ("", "url-scheme-missing"), ("example.com", "url-scheme-missing"), ("//example.com/", "url-scheme-missing"),
            ("/a", "url-scheme-missing"), ("example.com:8080/a", "url-scheme-missing"),
            ("localhost:3000", "url-scheme-missing"), ("://example.com/", "url-scheme-missing"),
            ("1http://example.com/", "url-scheme-missing"), ("ht tp://example.com/", "url-scheme-missing"),
            ("é://a/", "url-scheme-missing"),
            ("ftp://example.com/", "url-scheme-unsupported"), ("file:///a", "url-scheme-unsupported"),
            ("javascript:1", "url-scheme-missing"), ("javascript:a", "url-scheme-unsupported"),
            ("about:blank", "url-scheme-unsupported"),
            ("httpss://example.com/", "url-scheme-unsupported"),
            ("view-source:https://example.com/", "url-scheme-unsupported"), ("data:,a", "url-scheme-unsupported"),
            ("https://", "url-host-invalid"), ("https:", "url-host-invalid"), ("https:///", "url-host-invalid"),
            ("https://?a", "url-host-invalid"), ("https://#a", "url-host-invalid"),
            ("https://:80/", "url-host-invalid"),
            ("https://user@/", "url-host-invalid"), ("https://user@:80/", "url-host-invalid"),
            ("https://a b/", "url-host-invalid"), ("https://a%2Fb/", "url-host-invalid"),
            ("https://256.256.256.256/", "url-host-invalid"),
            ("https://[::1/", "url-host-invalid"), ("https://[::1]a/", "url-host-invalid"),
            ("https://::1/", "url-port-invalid"), ("https://a<b/", "url-host-invalid"),
            ("https://xn--a.ü/", "url-host-invalid"),
            ("https://example.com:65536/", "url-port-invalid"), ("https://example.com:a/", "url-port-invalid"),
            ("https://example.com:-1/", "url-port-invalid"), ("https://example.com:80:80/", "url-port-invalid"),
            ("https://example.com: 80/", "url-port-invalid"),
            ("https://example.com:99999999999999999999999/", "url-port-invalid"),
            ("https://example.com:８0/", "url-port-invalid"),
        ])
    func errors(text: String, code: String) {
        let error = #expect(throws: RequestURLError.self) { try RequestURL(text) }
        #expect(error?.code.rawValue == code)
        #expect(error?.description.isEmpty == false)
    }

    @Test(
        "Origins are scheme, host and port",
        arguments: [
            ("https://a.com/", "https://A.com:443/b?c", true), ("https://a.com/", "http://a.com/", false),
            ("https://a.com/", "https://a.com:81/", false), ("https://a.com/", "https://b.a.com/", false),
            ("wss://a.com/", "https://a.com/", false), ("https://127.1/", "https://127.0.0.1/", true),
        ])
    func origins(first: String, second: String, isSame: Bool) throws {
        #expect(try RequestURL(first).isSameOrigin(as: RequestURL(second)) == isSame)
        #expect(try (RequestURL(first).origin == RequestURL(second).origin) == isSame)
    }
}
