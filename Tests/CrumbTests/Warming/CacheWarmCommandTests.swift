import Foundation
import TestSupport
import Testing

@Suite("crumb cache warm", .timeLimit(.minutes(10)))
struct CacheWarmCommandTests {
    private let home = CrumbHome()

    /// A server of a page with a stylesheet, an image and a font.
    private static func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            let (type, text) =
                switch request.target {
                case "/": ("text/html", "<link rel=icon href=/i.png><link rel=stylesheet href=/a.css>")
                case "/a.css": ("text/css", "@font-face{src:url(/f.woff2)} b{background:url(/secret.png)}")
                default: ("application/octet-stream", "x")
                }
            var response = LoopbackServer.Response(request.target == "/none" ? 404 : 200, body: text)
            let control = request.target == "/secret.png" ? "no-store" : "max-age=600"
            response.fields = [("Content-Type", Array(type.utf8)), ("Cache-Control", Array(control.utf8))]
            return response
        }
    }

    @Test("A page is stored with its resources, which answer the next time, and the report says what was not")
    func loads() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        let words = ["cache", "warm", "--jar", "work", "--cache", "10M"]
        let first = try home.start(words + ["\(origin)/", "--json"]).wait()
        #expect(first.status == 0 && first.messages == "{\"note\":\"created jar 'work'\"}\n", "\(first.messages)")
        let report = try #require(try first.objects().first)
        #expect(report["pages"] as? Int == 1 && report["leftOut"] as? Int == 0)
        let outcomes = try #require(report["outcomes"] as? [String: Int])
        #expect(outcomes["stored"] == 4 && outcomes["not-stored"] == 1 && outcomes["fresh"] == 0)
        let responses = try #require(report["responses"] as? [[String: Any]])
        let secret = responses.first { $0["url"] as? String == "\(origin)/secret.png" }
        #expect(secret?["reason"] as? String == "Cache-Control has no-store")
        #expect(responses.first?["destination"] as? String == "document")
        #expect((responses.first?["cacheStatus"] as? String)?.contains("; stored; ") == true)
        let listed = try home.crumb("cache", "list", "--jar", "work", "--json").objects()
        #expect(listed.count == 4)

        let second = try home.start(words + ["\(origin)/"]).wait()
        #expect(second.text.hasPrefix("STATUS  OCTETS  CACHE "), "\(second.text)")
        #expect(second.messages.hasSuffix("3 already fresh, 1 not stored\n"), "\(second.messages)")
        // The page and what must not be stored are requested again.
        #expect(server.requests.count == 7)
        // The client's own requests carry nothing to the server by which the gateway knows it.
        #expect(server.requests.allSatisfy { $0.values("cookie").isEmpty })
    }

    @Test("A page that does not come has an exit status of its own, and the others are loaded")
    func missing() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        let result = try home.crumb(
            "cache", "warm", "--jar", "work", "--cache", "10M", "\(origin)/none", "http://127.0.0.1:1/", "\(origin)/")
        #expect(result.status == 94 && result.messages.contains("2 of 3 pages did not come"), "\(result.messages)")
        #expect(result.text.contains("404 ") && result.text.contains("failed"), "\(result.text)")
        #expect(try home.crumb("cache", "list", "--jar", "work", "--site", "127.0.0.1", "--json").objects().count >= 4)
    }

    @Test("Options that do not fit together are refused")
    func usage() throws {
        let url = "http://127.0.0.1/"
        for words in [
            [url], ["--cache", "1M"], ["--cache", "1M", "--offline", url], ["--cache", "1M", "ws://127.0.0.1/"],
            ["--cache", "1M", "--depth", "0", url], ["--cache", "1M", "--engine", "chromium", "--requests", "5", url],
            ["--cache", "1M", "--browser-argument", "--no-sandbox", url],
        ] {
            #expect(try home.start(["cache", "warm"] + words).wait().status == 64, "\(words)")
        }
    }
}
