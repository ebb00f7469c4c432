import Foundation
import TestSupport
import Testing

@Suite("Third parties in captures")
struct ThirdPartyImportTests {
    private let home = CrumbHome()

    /// A HAR of a page of `news.example` with a frame and an image of other sites.
    private static func har() -> String {
        func entry(_ url: String, _ destination: String, _ site: String, _ cookies: [String]) -> String {
            let lines = cookies.map { #"{"name":"Set-Cookie","value":"\#($0)"}"# }.joined(separator: ",")
            return """
                {"request":{"method":"GET","url":"\(url)","headers":[
                {"name":"Sec-Fetch-Site","value":"\(site)"},{"name":"Sec-Fetch-Dest","value":"\(destination)"},
                {"name":"Referer","value":"https://news.example/"}]},"response":{"status":200,"headers":[\(lines)]}}
                """
        }
        let entries = [
            entry("https://news.example/", "document", "none", ["sid=1; Path=/"]),
            entry(
                "https://widget.test/frame", "iframe", "cross-site",
                [
                    "part=1; Path=/; Secure; SameSite=None; Partitioned", "none=1; Path=/; Secure; SameSite=None",
                    "lax=1; Path=/; SameSite=Lax", "bare=1; Path=/",
                ]),
            entry("https://tracker.test/pixel", "image", "cross-site", ["strict=1; Path=/; SameSite=Strict"]),
        ]
        return #"{"log":{"version":"1.2","entries":[\#(entries.joined(separator: ","))]}}"#
    }

    @Test("Cookies of third parties meet the same-site rules, and partitioned ones get their partition")
    func rules() throws {
        let path = try home.write(Self.har(), to: "page.har")
        let result = try home.crumb("import", path)
        #expect(result.status == 0, "\(result.messages)")
        let lines = result.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "\(path): 6 Set-Cookie lines in 3 responses: 3 taken, 0 replaced, 0 deleted, 3 refused")
        let refused = lines.filter { $0.hasPrefix("  refused") }
        #expect(refused.count == 3)
        for line in refused {
            #expect(line.hasSuffix("(same-site-cross-site); third party in a page of https://news.example (sec-fetch)"))
        }
        #expect(
            lines.last == "  third parties: 2 responses, 2 stored (1 in a partition), 3 refused", "\(result.text)")
        #expect(try home.header("https://widget.test/") == "Cookie: none=1")
        #expect(try home.header("https://tracker.test/").isEmpty)
        #expect(try home.header("https://news.example/") == "Cookie: sid=1")
        let framed = try home.crumb("header", "--top-level", "https://news.example/", "https://widget.test/")
        #expect(framed.text == "Cookie: part=1; none=1\n")
    }

    @Test("The report in JSON names the context of each refusal")
    func json() throws {
        let path = try home.write(Self.har(), to: "page.har")
        let report = try #require(try home.crumb("import", "--json", path).objects().first)
        let counts = try #require(report["thirdParties"] as? [String: Int])
        #expect(counts == ["responses": 2, "stored": 2, "partitioned": 1, "refused": 3])
        let refused = try #require(report["refused"] as? [[String: Any]])
        let contexts = refused.compactMap { $0["thirdParty"] as? [String: String] }
        #expect(contexts == Array(repeating: ["topLevel": "https://news.example", "source": "sec-fetch"], count: 3))
    }

    @Test("--top-level states the page that a capture lacks, for import and for convert")
    func topLevel() throws {
        let dump = try home.write(
            Capture.dump(["part=1; Path=/; Secure; SameSite=None; Partitioned", "lax=1; Path=/"]), to: "dump.txt")
        let url = "https://widget.test/"
        let options = ["--url", url, "--top-level", "https://news.example/"]
        let result = try home.start(["import"] + options + [dump]).wait()
        #expect(result.text.contains("1 taken") && result.text.contains("1 refused"), "\(result.text)")
        #expect(try home.header(url).isEmpty)
        let framed = try home.crumb("header", "--top-level", "https://news.example/", url)
        #expect(framed.text == "Cookie: part=1\n")
        let converted = try home.start(["convert", "--to", "json"] + options + [dump]).wait()
        #expect(converted.text.contains("https://news.example") && !converted.text.contains("\"lax\""))
        // The same file in another context is another import.
        #expect(try home.crumb("import", "--url", url, dump).text.contains("2 taken"))
        #expect(try home.crumb("import", "--url", url, "--top-level", "news", dump).status == 19)
    }

    @Test("A partition that is not known is none")
    func unknownPartition() throws {
        let har = """
            {"log":{"entries":[{"request":{"url":"https://widget.test/","headers":[
            {"name":"Sec-Fetch-Site","value":"cross-site"},{"name":"Sec-Fetch-Dest","value":"iframe"}]},
            "response":{"status":200,"headers":[
            {"name":"Set-Cookie","value":"part=1; Path=/; Secure; SameSite=None; Partitioned"}]}}]}}
            """
        let path = try home.write(har, to: "page.har")
        let result = try home.crumb("import", path)
        #expect(result.text.contains("(partition-unknown); third party in a page that the capture does not name"))
        let told = try home.crumb("import", "--top-level", "https://news.example/", path)
        #expect(told.text.contains("1 taken"), "\(told.text)")
    }
}
