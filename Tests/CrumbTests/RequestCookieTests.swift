import Foundation
import Testing

@Suite("Cookies of requests")
struct RequestCookieTests {
    private let home = CrumbHome()

    private static func entry(_ url: String, cookie: String?, set: [String] = [], fields: [String: String] = [:])
        -> String
    {
        var headers = fields
        headers["Cookie"] = cookie
        let sent = headers.map { #"{"name":"\#($0.key)","value":"\#($0.value)"}"# }.joined(separator: ",")
        let received = set.map { #"{"name":"Set-Cookie","value":"\#($0)"}"# }.joined(separator: ",")
        return """
            {"request":{"method":"GET","url":"\(url)","headers":[\(sent)]},"response":{"status":200,"headers":[\(received)]}}
            """
    }

    private func cookies(jar: String = "default") throws -> [[String: Any]] {
        try home.crumb("list", "--jar", jar, "--origins", "--values", "--json").objects()
    }

    @Test("A HAR that began after the login gives its request cookies where they are asked for")
    func har() throws {
        let path = try home.write(
            Capture.har([
                Self.entry("https://www.example.com/a/b?q=1", cookie: "sid=old; theme=dark; out=1; dom=0"),
                Self.entry(
                    "https://www.example.com/", cookie: "sid=1; theme=dark; out=1; dom=0",
                    set: ["theme=light; Path=/", "out=; Path=/; Max-Age=0", "dom=1; Path=/; Domain=example.com"]),
                Self.entry("http://plain.example/", cookie: "p=1"),
                Self.entry(
                    "https://other.example/i", cookie: "third=1",
                    fields: ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"]),
            ]), to: "page.har")
        #expect(try home.crumb("import", "--jar", "plain", path).text.contains("1 deleted") == true)
        #expect(try home.header(jar: "plain") == "Cookie: theme=light; dom=1")
        let result = try home.crumb("import", "--request-cookies", path)
        #expect(
            result.status == 0
                && result.text.hasSuffix("  request cookies: 2 taken, 3 already set, 1 of third parties left out\n"),
            "\(result.text)")
        #expect(try home.header() == "Cookie: theme=light; dom=1; sid=1")
        #expect(try home.header("http://plain.example/") == "Cookie: p=1")
        #expect(try home.header("https://sub.www.example.com/") == "Cookie: dom=1")
        let sid = try #require(try cookies().first { $0["name"] as? String == "sid" })
        #expect(sid["hostOnly"] as? Bool == true && sid["path"] as? String == "/" && sid["secure"] as? Bool == true)
        #expect(sid["httpOnly"] as? Bool == true && sid["expires"] == nil)
        let origin = try #require(sid["origin"] as? [String: Any])
        #expect(origin["kind"] as? String == "request" && origin["url"] as? String == "https://www.example.com/")
        #expect(origin["capture"] as? String == path)
        let theme = try #require(try cookies().first { $0["name"] as? String == "theme" })
        #expect((theme["origin"] as? [String: Any])?["kind"] == nil)
        #expect(try home.crumb("list", "--origins").text.contains("request https://www.example.com/ in "))
        // A script of a page gets none of them.
        #expect(!(try home.crumb("script", "https://www.example.com/").text.contains("sid")))
        // What is already set stays; the same file again changes nothing.
        #expect(try home.crumb("import", "--request-cookies", path).text.contains("imported before"))
    }

    @Test("Copied requests need no option, and a newer one counts")
    func copied() throws {
        let command = try home.write(
            "curl 'https://www.example.com/x' -H 'Cookie: sid=1; b=2' --compressed", to: "a.txt")
        #expect(try home.crumb("import", command).text.contains("2 taken"))
        #expect(try home.header() == "Cookie: sid=1; b=2")
        let line = try home.crumb("import", "--url", "https://www.example.com/", "-", input: "Cookie: sid=3\n")
        #expect(line.status == 0 && line.text.contains("1 taken"), "\(line.text)")
        #expect(try home.header() == "Cookie: sid=3; b=2")
        let call = #"fetch("https://www.example.com/", {"headers":{"cookie":"c=1"}, "method":"GET"});"#
        #expect(try home.crumb("import", "-", input: call).status == 0)
        #expect(try home.header() == "Cookie: sid=3; b=2; c=1")
        // What a server sets is never replaced.
        try home.receive("sid=4; Path=/")
        #expect(try home.crumb("import", "--again", command).text.contains("1 already set"))
        #expect(try home.header() == "Cookie: sid=4; b=2; c=1")
        let copy = try home.crumb("jars", "copy", "default", "other")
        #expect(copy.status == 0, "\(copy.talk)")
        let kinds = try cookies(jar: "other").map { ($0["origin"] as? [String: Any])?["kind"] as? String }
        #expect(kinds == [nil, "request", "request"])
    }

    @Test("convert takes them, too")
    func convert() throws {
        let converted = try home.crumb(
            "convert", "--to", "json", "-", input: "curl 'https://www.example.com/' -b 'sid=1'")
        #expect(converted.status == 0 && converted.text.contains("\"sid\""), "\(converted.talk)")
    }
}
