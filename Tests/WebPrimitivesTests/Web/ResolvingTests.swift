import Testing

@testable import WebPrimitives

@Suite("Location references")
struct ResolvingTests {
    @Test(
        "References resolve as in RFC 3986, section 5.4",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
            ("../../", "http://a/"), ("../../g", "http://a/g"),
            // Abnormal ones.
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g"),
        ] as [(Octets, String)])
    func examples(reference: Octets, url: String) throws {
        #expect(try RequestURL("http://a/b/c/d;p?q#f").resolving(reference).description == url)
    }

    @Test(
        "References resolve as browsers do where RFC 3986 says otherwise or nothing",
        arguments: [
            ("http:g", "http://a/b/c/g"), ("HTTP:g", "http://a/b/c/g"), ("http:/g", "http://a/g"),
            ("http:?y", "http://a/b/c/d;p?y"), ("http:", "http://a/b/c/d;p?q"), ("http:#s", "http://a/b/c/d;p?q"),
            ("http://g", "http://g/"),
            ("http:\\\\g", "http://g/"), ("https:g", "https://g/"), ("https:/g", "https://g/"),
            ("wss:g/h", "wss://g/h"), ("///g", "http://g/"), ("\\g", "http://a/g"), ("\\\\g\\h", "http://g/h"),
            ("/\\g", "http://g/"), ("..\\g", "http://a/b/g"), ("%2e%2e/g", "http://a/b/g"),
            (" g ", "http://a/b/c/g"), ("\tg\n", "http://a/b/c/g"), ("/\n/g", "http://g/"),
            ("g h", "http://a/b/c/g%20h"), ("é", "http://a/b/c/%C3%A9"), ("  ", "http://a/b/c/d;p?q"),
            ("?", "http://a/b/c/d;p?"), ("1:2", "http://a/b/c/1:2"), ("a b:c", "http://a/b/c/a%20b:c"),
            (":80", "http://a/b/c/:80"), ("//user@g:81/h", "http://g:81/h"), ("@g", "http://a/b/c/@g"),
            ("./http://g", "http://a/b/c/http://g"), ("/http://g", "http://a/http://g"),
        ] as [(Octets, String)])
    func browsers(reference: Octets, url: String) throws {
        #expect(try RequestURL("http://a/b/c/d;p?q").resolving(reference).description == url)
    }

    @Test(
        "Port and scheme are kept, and a reference relative to the root needs no path",
        arguments: [
            ("https://a:81/", "b", "https://a:81/b"), ("https://a:81/b", "?", "https://a:81/b?"),
            ("https://a:81", "//b", "https://b/"), ("wss://a/b/c", "../d", "wss://a/d"),
            ("http://a/b//c", "d", "http://a/b//d"),
            ("http://a/b/%2E%2e/c", "d", "http://a/d"), ("http://[::1]:81/b", "/c", "http://[::1]:81/c"),
            ("http://a/%", "b?%", "http://a/b?%"),
        ] as [(String, Octets, String)])
    func bases(base: String, reference: Octets, url: String) throws {
        #expect(try RequestURL(base).resolving(reference).description == url)
    }

    @Test(
        "A reference that no request can follow is an error",
        arguments: [
            "ftp://g/", "mailto:a@b", "javascript:a", "data:,a", "g:h", "//", "//:80", "http://", "https:", "//a b/",
            "//g:x/", "//256.256.256.256/", "https:///",
        ] as [Octets])
    func errors(reference: Octets) throws {
        let base = try RequestURL("http://a/b")
        #expect(throws: RequestURLError.self) { try base.resolving(reference) }
    }
}
