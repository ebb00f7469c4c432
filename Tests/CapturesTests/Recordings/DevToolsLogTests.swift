import CookieModel
import Foundation
import Testing

@testable import Captures

/// The sample is the network part of a Chromedriver performance log of Chromium 156: a page behind a redirect, with an
/// image, a `fetch` and a frame of other sites.
@Suite("Logs of the DevTools protocol")
struct DevToolsLogTests {
    private static let lines: [String] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Samples/chromedriver.jsonl")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }()

    /// The same log in every form that tools write.
    private static let variants: [(name: String, text: String)] = {
        func quoted(_ text: String) -> String {
            (try? String(decoding: JSONEncoder().encode(text), as: UTF8.self)) ?? "\"\""
        }
        let entries = lines.map {
            #"{"level":"INFO","message":\#(quoted(#"{"message":\#($0),"webview":"W"}"#)),"timestamp":1}"#
        }
        return [
            ("messages a line", lines.joined(separator: "\n")), ("an array", "[\(lines.joined(separator: ",\n"))]"),
            ("Selenium's list", "[\(entries.joined(separator: ", "))]"),
            ("WebDriver's answer", "{ \"value\" : [\(entries.joined(separator: ","))] }"),
            ("entries a line", entries.joined(separator: "\r\n") + "\r\n"),
            (
                "messages in objects",
                "[\(lines.map { #"{"direction":"in","message":\#($0)}"# }.joined(separator: ","))]"
            ),
        ]
    }()

    @Test(
        "Every form of a DevTools log gives the responses with their lines, times and contexts",
        arguments: variants.map(\.name))
    func forms(name: String) throws {
        let text = try #require(Self.variants.first { $0.name == name }?.text)
        #expect(CaptureFormat.detect(Array(text.utf8).span) == .devToolsLog)
        let capture = Capture(text)
        #expect(capture.failures.isEmpty)
        let found = try capture.responses.map { response in
            let context = try response.context(policy: CookiePolicy())
            let page = context.request.isTopLevelNavigation ? "page" : context.request.topLevel?.origin ?? "-"
            return "\(response.status) \(response.url) \(context.isThirdParty ? "third in" : "first") \(page): "
                + response.setCookie.map { $0.description.prefix { $0 != "=" } }.joined(separator: " ")
        }
        #expect(
            found == [
                "302 http://news.localhost:8123/start first page: hop",
                "200 http://news.localhost:8123/page first page: sid",
                "200 http://tracker.localhost:8123/pixel third in http://news.localhost: strict track",
                "200 http://widget.localhost:8123/api third in http://news.localhost: api",
                "200 http://widget.localhost:8123/frame third in http://news.localhost: part none lax bare",
            ])
        #expect(capture.responses.first?.time?.rfc3339.hasPrefix("2026-11-22T21:26:49") == true)
        #expect(capture.items(pieceLength: 7) == capture.items)
    }

    @Test("A DevTools log gives the cookies that requests sent with their attributes")
    func requestRecords() {
        let responses = Capture(Self.lines.joined(separator: "\n")).responses
        let records = responses.flatMap(\.requestRecords)
        #expect(
            records.map { "\($0.name) \($0.domain) \($0.isHostOnly) \($0.sameSite) \($0.isSecure)" } == [
                "hop news.localhost true default false", "api widget.localhost true none true",
            ])
        #expect(responses.map(\.requestCookies) == [[], ["hop=1"], [], [], ["api=1"]])
    }

    @Test("Extra events may come before the request's own, and a redirect may have none")
    func order() {
        let request =
            #"{"method":"Network.requestWillBeSent","params":{"requestId":"1","request":{"url":"https://a.test/1"}}}"#
        let redirected = """
            {"method":"Network.requestWillBeSent","params":{"requestId":"1","redirectHasExtraInfo":false,\
            "redirectResponse":{},"request":{"url":"https://a.test/2"}}}
            """
        let extra = """
            {"method":"Network.responseReceivedExtraInfo","params":{"requestId":"1","statusCode":200,\
            "headers":{"set-cookie":"a=1\\nb=\u{E9}"}}}
            """
        let early = Capture([extra, request].joined(separator: "\n")).responses
        #expect(
            early.map(\.url) == ["https://a.test/1"]
                && early.map(\.setCookie) == [["a=1", Octets([0x62, 0x3D, 0xE9])]])
        #expect(
            Capture([request, redirected, extra].joined(separator: "\n")).responses.map(\.url) == ["https://a.test/2"])
        #expect(Capture(extra).failures.map(\.code) == [.entryMalformed])
    }

    @Test("A broken DevTools event loses only its own entry")
    func broken() {
        let text = "\(Self.lines[0])\n{\"method\":\n\(Self.lines[1])\n\(Self.lines[2])\n"
        let capture = Capture(text)
        #expect(capture.failures.map(\.place.line) == [2] && capture.responses.count == 1)
        let array = Capture(#"[{"level":"INFO","message":"no JSON"},\#(Self.lines[0]),\#(Self.lines[2])]"#)
        #expect(array.failures.map(\.place.entry) == [1] && array.responses.count == 1)
        #expect(
            Capture(#"[{"method":"Page.loadEventFired","params":{}}]"#).failures.map(\.code) == [.inputUnrecognized])
    }

    @Test("A long DevTools log takes limited memory")
    func bounded() {
        var log = DevToolsLog(source: "x")
        var items: [CaptureItem] = []
        for number in 0..<30_000 {
            let text = """
                {"method":"Network.requestWillBeSent","params":{"requestId":"\(number)",\
                "request":{"url":"https://a.test/\(String(repeating: "x", count: 1000))"}}}
                """
            guard let value = JSONValue(parsing: Array(text.utf8).span) else { continue }
            _ = log.take(value, at: CapturePlace(source: "x", entry: number), into: &items)
            #expect(log.byteCount <= 1 << 24)
        }
    }
}
