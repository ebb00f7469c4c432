import CookieModel
import Testing

@testable import Captures

@Suite("The context of captured responses")
struct CapturedContextTests {
    /// A HAR entry with these request headers, and other members.
    private static func entry(_ url: String, _ headers: [String: String] = [:], _ members: String = "") -> String {
        let fields = headers.sorted { $0.key < $1.key }.map { #"{"name":"\#($0.key)","value":"\#($0.value)"}"# }
        let list = headers.isEmpty ? "" : #","headers":[\#(fields.joined(separator: ","))]"#
        let response = #""response":{"status":200,"headers":[{"name":"Set-Cookie","value":"a=1"}]}"#
        return
            #"{\#(members.isEmpty ? "" : members + ",")"request":{"method":"GET","url":"\#(url)"\#(list)},\#(response)}"#
    }

    private static func fetch(_ site: String, _ destination: String, _ more: [String: String] = [:]) -> [String: String]
    {
        ["Sec-Fetch-Site": site, "Sec-Fetch-Dest": destination].merging(more) { $1 }
    }

    /// Each response's context in a few words.
    private static func contexts(_ text: String, url: String? = nil, topLevel: String? = nil) throws -> [String] {
        try Capture(text, url: url).responses.map { response in
            let context = try response.context(
                topLevel: try topLevel.map { try RequestURL($0) }, policy: CookiePolicy())
            let request = context.request
            if request.isTopLevelNavigation { return "navigation" }
            let page = request.topLevel.map { " in \($0.origin)" } ?? ""
            return (context.isThirdParty ? "third" : "first") + page + " (\(context.source.rawValue))"
        }
    }

    private static let image = ["Accept": "image/png,*/*", "User-Agent": "Mozilla/5.0"]

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let entries: [String]
        let contexts: [String]
        var topLevel: String?
        var members = ""

        init(
            _ description: String, _ entries: [String], _ contexts: String..., topLevel: String? = nil,
            members: String = ""
        ) {
            testDescription = description
            self.entries = entries
            self.contexts = contexts
            self.topLevel = topLevel
            self.members = members
        }
    }

    private static let cases = [
        Case("nothing is told", [entry("https://b.test/")], "navigation"),
        Case(
            "nothing is told but by the caller", [entry("https://b.test/"), entry("https://a.test/")],
            "third in https://a.test (given)", "navigation", topLevel: "https://a.test/"),
        Case(
            "a top-level navigation from another site",
            [entry("https://b.test/", fetch("cross-site", "document", ["Referer": "https://a.test/"]))], "navigation",
            topLevel: "https://a.test/"),
        Case(
            "a page, its frame, an image in the frame",
            [
                entry("https://a.test/", fetch("none", "document")),
                entry("https://b.test/f", fetch("cross-site", "iframe", ["Referer": "https://a.test/"])),
                entry("https://b.test/i", fetch("same-origin", "image", ["Referer": "https://b.test/f"])),
                entry("https://a.test/i", fetch("same-origin", "image", ["Referer": "https://a.test/"])),
                entry("https://x.a.test/i", fetch("same-site", "image", ["Referer": "https://a.test/"])),
            ], "navigation", "third in https://a.test (sec-fetch)", "third in https://a.test (page)",
            "first in https://a.test (page)", "first in https://a.test (page)"),
        Case(
            "the page is where the Referer points to",
            [entry("https://b.test/f", fetch("cross-site", "iframe", ["Referer": "https://a.test/"]))],
            "third in https://a.test (sec-fetch)"),
        Case(
            "the Referer knows better than the caller, who speaks for what knows nothing",
            [
                entry("https://b.test/f", fetch("cross-site", "iframe", ["Referer": "https://c.test/"])),
                entry("https://b.test/", ["Origin": "https://c.test"].merging(image) { $1 }),
                entry("https://b.test/f", fetch("cross-site", "iframe")),
            ], "third in https://c.test (sec-fetch)", "third in https://c.test (referrer)",
            "third in https://a.test (given)", topLevel: "https://a.test/"),
        Case("a third party of nobody", [entry("https://b.test/f", fetch("cross-site", "image"))], "third (sec-fetch)"),
        Case(
            "the browser's word alone", [entry("https://b.test/f", ["Sec-Fetch-Site": "cross-site"])],
            "third (sec-fetch)"),
        Case(
            "only third parties have the field",
            [entry("https://b.test/", fetch("same-origin", "empty", ["Sec-Fetch-Storage-Access": "active"]))],
            "third (sec-fetch)"),
        Case(
            "an Origin", [entry("https://b.test/", ["Origin": "https://a.test"].merging(image) { $1 })],
            "third in https://a.test (referrer)"),
        Case(
            "a Referer of a browser without Sec-Fetch",
            [entry("http://b.test/", ["Referer": "http://a.test/"].merging(image) { $1 })],
            "third in http://a.test (referrer)"),
        Case(
            "a Referer of curl's", [entry("http://b.test/", ["Referer": "http://a.test/", "Accept": "*/*"])],
            "navigation"),
        Case(
            "a link of a browser without Sec-Fetch",
            [
                entry(
                    "http://b.test/", ["Referer": "http://a.test/", "Accept": "text/html", "User-Agent": "Mozilla/5.0"])
            ],
            "navigation"),
        Case(
            "the page by its name",
            [
                entry("http://a.test/", ["Accept": "text/html"], #""pageref":"p""#),
                entry("http://b.test/i", image, #""pageref":"p""#),
                entry("http://b.test/f", ["Accept": "text/html", "Referer": "http://a.test/"], #""pageref":"p""#),
                entry("http://a.test/i", image, #""pageref":"p""#),
            ], "navigation", "third in http://a.test (page)", "third in http://a.test (page)",
            "first in http://a.test (page)"),
        Case(
            "the page by the document's list, without request headers",
            [
                entry("http://b.test/i", [:], #""pageref":"p""#), entry("http://a.test/x", [:], #""pageref":"p""#),
                entry("http://b.test/", [:], #""pageref":"q""#),
            ], "third in http://a.test (page)", "navigation", "third in http://a.test (page)",
            members: #""pages":[{"id":"p","title":"http://a.test/x"},{"id":"q","title":"http://a.test/"}],"#),
        Case(
            "Chromium's words",
            [
                entry("http://a.test/", [:], #""_resourceType":"document","pageref":"p""#),
                entry("http://b.test/", [:], #""_resourceType":"script","pageref":"p""#),
                entry(
                    "http://b.test/", [:],
                    #""_resourceType":"xhr","_initiator":{"type":"parser","url":"http://a.test/"}"#),
            ], "navigation", "third in http://a.test (page)", "third in http://a.test (page)"),
    ]

    @Test("A HAR's evidence determines the context of its responses", arguments: cases)
    func har(_ sample: Case) throws {
        let text = #"{"log":{\#(sample.members)"entries":[\#(sample.entries.joined(separator: ","))]}}"#
        #expect(try Self.contexts(text, topLevel: sample.topLevel) == sample.contexts)
    }

    @Test("A redirect of the page is the page, and its chain is known")
    func redirects() throws {
        func entry(_ url: String, to location: String?, _ destination: String) -> String {
            let field = location.map { #"{"name":"Location","value":"\#($0)"}"# } ?? ""
            return """
                {"request":{"url":"\(url)","headers":[{"name":"Sec-Fetch-Dest","value":"\(destination)"},
                {"name":"Sec-Fetch-Site","value":"cross-site"},{"name":"Referer","value":"https://a.test/"}]},
                "response":{"status":\(location == nil ? 200 : 302),"headers":[\(field)]}}
                """
        }
        let capture = Capture(
            HARText.document(
                entry("https://a.test/x", to: "https://b.test/y", "image"),
                entry("https://b.test/y", to: "//a.test/z", "image"),
                entry("https://a.test/z", to: nil, "image")))
        let contexts = try capture.responses.map { try $0.context(policy: CookiePolicy()) }
        #expect(
            contexts.map { $0.request.redirects.map(\.host.description) } == [[], ["a.test"], ["a.test", "b.test"]])
        // The draft looks at the last URL and at who asked; a policy may look at the chain.
        #expect(contexts.map(\.isThirdParty) == [true, true, false])
        var policy = CookiePolicy()
        policy.considersRedirectChain = true
        #expect(try capture.responses[2].context(policy: policy).isThirdParty)
    }

    @Test("A net-log names the request's kind and partition")
    func netLog() throws {
        func event(_ id: Int, _ url: String, _ parameters: String) -> String {
            let source = #""source":{"id":\#(id)},"time":"1""#
            return """
                {"type":1,\(source),"params":{"url":"\(url)","method":"GET",\(parameters)}},
                {"type":2,\(source),"params":{"headers":["HTTP/1.1 200 OK","Set-Cookie: a=1"]}}
                """
        }
        let a = #""network_isolation_key":"https://a.test https://a.test""#
        let events = [
            event(1, "https://a.test/", #""request_type":"main frame",\#(a)"#),
            event(
                2, "https://b.test/",
                #""request_type":"sub frame",\#(a),"site_for_cookies":"SiteForCookies: {site=null; schemefully_same=false}""#
            ),
            event(
                3, "https://a.test/",
                #""request_type":"other",\#(a),"site_for_cookies":"SiteForCookies: {site=https://a.test; schemefully_same=true}""#
            ),
            event(
                4, "https://a.test/",
                #""request_type":"other",\#(a),"site_for_cookies":"SiteForCookies: {site=null; schemefully_same=false}""#
            ),
        ]
        let types = #"{"URL_REQUEST_START_JOB":1,"HTTP_TRANSACTION_READ_RESPONSE_HEADERS":2}"#
        let text = #"{"constants":{"logEventTypes":\#(types)},"events":[\#(events.joined(separator: ","))]}"#
        #expect(
            try Self.contexts(text) == [
                "navigation", "third in https://a.test (partition-key)", "first in https://a.test (partition-key)",
                "third in https://a.test (partition-key)",
            ])
    }

    @Test("A WARC's request belongs to its response, before or after it", arguments: [true, false])
    func warc(isFirst: Bool) throws {
        func record(_ type: String, _ url: String, _ block: String) -> String {
            "WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Target-URI: \(url)\r\nContent-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n"
        }
        func pair(_ url: String, _ fields: String) -> String {
            let request = record("request", url, "GET / HTTP/1.1\r\n\(fields)\r\n\r\n")
            let response = record("response", url, "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\nbody")
            return isFirst ? request + response : response + request
        }
        let text =
            pair("https://a.test/", "Sec-Fetch-Dest: document")
            + pair("https://b.test/", "Sec-Fetch-Dest: image\r\nSec-Fetch-Site: cross-site\r\nReferer: https://a.test/")
            + record("response", "https://b.test/", "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n")
        let expected = ["navigation", "third in https://a.test (sec-fetch)", "navigation"]
        #expect(try Self.contexts(text) == expected)
        let capture = Capture(text)
        #expect(capture.items(pieceLength: 1) == capture.items)
    }

    @Test("A transcript's request lines determine the context; without them, the caller does")
    func transcripts() throws {
        func text(_ fields: String) -> String {
            "> GET / HTTP/1.1\r\n> Host: b.test\r\n\(fields)> \r\n< HTTP/1.1 200 OK\r\n< Set-Cookie: a=1\r\n< \r\n"
        }
        let frame = text("> Sec-Fetch-Site: cross-site\r\n> Sec-Fetch-Dest: iframe\r\n> Referer: http://a.test/\r\n")
        #expect(try Self.contexts(frame) == ["third in http://a.test (sec-fetch)"])
        #expect(try Self.contexts(text("> Referer: http://a.test/\r\n")) == ["navigation"])
        let dump = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n"
        #expect(try Self.contexts(dump, url: "http://b.test/") == ["navigation"])
        #expect(
            try Self.contexts(dump, url: "http://b.test/", topLevel: "http://a.test/")
                == ["third in http://a.test (given)"])
    }

    @Test("The memory of pages is limited, and each entry is read once")
    func bounded() {
        var trail = PageTrail()
        for number in 0..<30_000 {
            var response = CapturedResponse(
                url: "https://h\(number).test/", status: 302, setCookie: [], place: CapturePlace(source: "x"))
            response.evidence.pageID = "p\(number)"
            response.evidence.destination = .page
            response.evidence.location = "/next"
            trail.follow(&response)
        }
        #expect(trail.rememberedCount <= 30_000)
    }
}
