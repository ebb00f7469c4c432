import CookieModel
import Foundation
import Testing

@testable import Captures

/// The sample is what tshark 4.0 printed, with `-x` and TLS keys, of curl 7.88 and nginx 1.22: a redirect and its page
/// over HTTP/1.1, then over HTTP/2. Members that nothing reads are cut out.
@Suite("tshark's JSON")
struct TsharkTests {
    private static func packet(_ layers: String, number: Int = 1, connection: Int = 0, fromServer: Bool = false)
        -> String
    {
        let ports = fromServer ? ("443", "50000") : ("50000", "443")
        return """
            {"_index":"packets","_source":{"layers":{"frame":{"frame.number":"\(number)"},"tcp":{"tcp.stream":\
            "\(connection)","tcp.srcport":"\(ports.0)","tcp.dstport":"\(ports.1)"},\(layers)}}}
            """
    }

    private static func response(_ members: String, status: Int = 200, to url: String? = "http://a.test/x")
        -> String
    {
        let request = url.map { #","http.request_in":"1","http.response_for.uri":"\#($0)""# } ?? ""
        return
            #""http":{"HTTP/1.1 \#(status) X\\r\\n":{"http.response.code":"\#(status)"},\#(members),"http.response":"1"\#(request)}"#
    }

    private static let request = #""http":{"http.request":"1","http.request.full_uri":"http://a.test/x"}"#

    private static func setCookie(_ value: String) -> String {
        #""http.response.line":"Set-Cookie: \#(value)\r\n""#
    }

    /// A frame of HTTP/2 with a header.
    private static func frame(_ stream: Int, type: Int = 1, _ fields: [(String, String)]) -> String {
        let headers = fields.map {
            #""http2.header":{"http2.header.name":"\#($0.0)","http2.header.value":"\#($0.1)"}"#
        }
        return """
            "http2":{"http2.stream":{"http2.streamid":"\(stream)","http2.type":"\(type)",\
            \(headers.joined(separator: ","))}}
            """
    }

    private static func request(_ stream: Int, _ host: String, _ fields: [(String, String)] = []) -> String {
        frame(stream, [(":method", "GET"), (":scheme", "https"), (":authority", host), (":path", "/")] + fields)
    }

    private static func capture(_ packets: String...) -> Capture {
        Capture("[\n\(packets.joined(separator: ",\n"))\n]")
    }

    // MARK: Recorded

    private static func recording() throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Samples/tshark.json"),
            encoding: .utf8)
    }

    @Test("tshark's JSON gives the same for HTTP/1.1 and HTTP/2, octet for octet")
    func recorded() throws {
        let capture = Capture(try Self.recording())
        #expect(capture.reader(atEndOf: capture.bytes).format == .tsharkJSON)
        #expect(capture.failures.isEmpty)
        let responses = capture.responses
        #expect(responses.map(\.status) == [302, 200, 302, 200])
        #expect(
            responses.map(\.url) == [
                "https://www.example.com/first", "https://www.example.com/login", "https://www.example.com/first",
                "https://www.example.com/login",
            ])
        let cookies: [[Octets]] = [
            ["redirected=1; Path=/; Max-Age=86400"],
            ["a=1; Path=/; Secure; HttpOnly", "b=Grüße", #"q="x\y"; Path=/"#, "empty="],
        ]
        #expect(responses.map(\.setCookie) == cookies + cookies)
        #expect(responses.allSatisfy { $0.requestCookies == ["sent=1; two=2"] && $0.method == "GET" && $0.time != nil })
        #expect(responses.map(\.evidence.location) == ["/login", nil, "/login", nil])
        #expect(capture.items(pieceLength: 7).responses == responses)
    }

    @Test("Without -x, a line whose octets are lost is left out and reported")
    func lost() throws {
        let text = try Self.recording().replacing(#/"[a-z0-9._]+_raw":\[[^\]]*\],/#, with: "")
        #expect(!text.contains("_raw"))
        let capture = Capture(text)
        #expect(capture.responses.map(\.setCookie.count) == [1, 3, 1, 3])
        #expect(capture.failures.map(\.code) == [.lineMalformed, .lineMalformed])
        #expect(capture.failures.allSatisfy { $0.description.contains("-x") })
    }

    // MARK: HTTP/1

    @Test("In tshark's JSON, all members with a repeated name count")
    func repeated() {
        let capture = Self.capture(
            Self.packet(Self.request),
            Self.packet(
                Self.response("\(Self.setCookie("a=1")),\(Self.setCookie("b=2"))", status: 302), fromServer: true),
            Self.packet(Self.response(Self.setCookie("c=3"), to: nil), fromServer: true), "7")
        #expect(
            capture.summary == [
                "302 http://a.test/x [a=1|b=2]", "entry-malformed at x: entry 3", "entry-malformed at x: entry 4",
            ])
    }

    @Test("In tshark's JSON, a display filter may leave the requests out")
    func responsesOnly() {
        let capture = Self.capture(Self.packet(Self.response(Self.setCookie("a=1")), fromServer: true))
        #expect(capture.summary == ["200 http://a.test/x [a=1]"])
    }

    @Test("In tshark's JSON, a request's cookies and context apply only to its own response")
    func requests() {
        let first = #"""
            "http":{"GET / HTTP/1.1\\r\\n":{"http.request.method":"GET"},"http.request.line":"Cookie: a=1\r\n",
            "http.request.line":"Sec-Fetch-Dest: image\r\n","http.request.full_uri":"http://a.test/x"}
            """#
        let answer = Self.response(Self.setCookie("b=2"))
        let capture = Self.capture(
            Self.packet(first), Self.packet(Self.request, number: 2), Self.packet(answer, number: 3, fromServer: true))
        #expect(capture.responses.map(\.requestCookies) == [["a=1"]])
        #expect(capture.responses.map(\.evidence.destination) == [.subresource])
        #expect(capture.responses.map(\.method) == ["GET"])
    }

    @Test("A server that sends request and response sets no cookies for another host")
    func forged() {
        let capture = Self.capture(
            Self.packet(Self.request, fromServer: true),
            Self.packet(Self.response(Self.setCookie("a=1")), number: 2, fromServer: true),
            Self.packet(Self.request(1, "victim.test"), number: 3, fromServer: true),
            Self.packet(Self.frame(1, [(":status", "200"), ("set-cookie", "b=1")]), number: 4, fromServer: true),
            Self.packet(Self.request(3, "a.test"), number: 5),
            Self.packet(
                Self.frame(
                    3, type: 5,
                    [(":method", "GET"), (":scheme", "https"), (":authority", "victim.test"), (":path", "/")]),
                number: 6, fromServer: true),
            Self.packet(Self.frame(3, [(":status", "200"), ("set-cookie", "c=1")]), number: 7, fromServer: true))
        #expect(
            capture.summary == [
                "entry-malformed at x: entry 2", "entry-malformed at x: entry 4", "200 https://a.test/ [c=1]",
            ])
    }

    // MARK: HTTP/2

    @Test("In tshark's JSON, a response belongs to the request of its connection and stream")
    func streams() {
        let capture = Self.capture(
            Self.packet(Self.request(1, "a.test", [("cookie", "p=1"), ("cookie", "q=2")])),
            Self.packet(Self.request(1, "b.test"), connection: 1),
            Self.packet(Self.request(3, "c.test", [("sec-fetch-site", "cross-site")])),
            Self.packet(
                Self.frame(1, [(":status", "200"), ("set-cookie", "b=1")]), connection: 1, fromServer: true),
            Self.packet(
                Self.frame(3, [(":status", "404"), ("set-cookie", "c=1"), ("set-cookie", "d=1")]) + ","
                    + Self.frame(1, [(":status", "103")]) + "," + Self.frame(1, [(":status", "200")]),
                fromServer: true),
            Self.packet(Self.frame(9, [(":status", "200"), ("set-cookie", "e=1")]), fromServer: true))
        #expect(
            capture.summary == [
                "200 https://b.test/ [b=1]", "404 https://c.test/ [c=1|d=1]", "103 https://a.test/ []",
                "200 https://a.test/ []", "entry-malformed at x: entry 6",
            ])
        #expect(capture.responses.last?.requestCookies == ["p=1", "q=2"])
        #expect(capture.responses[1].evidence.fetchSite == .crossSite)
    }

    @Test("In tshark's JSON, streams of unknown connections are not confused")
    func unknownConnections() {
        func packet(_ layers: String) -> String { #"{"_index":"packets","_source":{"layers":{\#(layers)}}}"# }
        let capture = Self.capture(
            packet(Self.request(1, "a.test")), packet(Self.request(1, "b.test")),
            packet(Self.frame(1, [(":status", "200"), ("set-cookie", "a=1")])))
        #expect(capture.summary == ["entry-malformed at x: entry 3"])
    }

    @Test("Requests in tshark's JSON that are never answered take limited memory")
    func unanswered() {
        let packets = (1...12_000).map { number in
            Self.packet(
                "\"http\":{\"http.request.full_uri\":\"http://a.test/\(number)\"}", number: number)
        }
        var outline = TsharkOutline(source: "x")
        var items: [CaptureItem] = []
        for packet in packets {
            guard let value = JSONValue(parsing: Array(packet.utf8).span) else { continue }
            outline.take(value, as: .entry, named: [], isWhole: true, into: &items)
            #expect(outline.bufferedByteCount <= 10_000 * 300)
        }
        #expect(outline.entryCount == 12_000 && items.isEmpty && outline.bufferedByteCount > 0)
    }

    // MARK: Nothing to read

    @Test("A capture without a readable message names the connections that lack keys")
    func encrypted() throws {
        let tls = #""tls":{"filtered":"tls"}"#
        let none = Self.capture(Self.packet(tls), Self.packet(tls), Self.packet(tls, connection: 1))
        let failure = try #require(none.failures.first)
        #expect(none.failures.count == 1 && failure.code == .inputUnrecognized)
        #expect(failure.description.contains("2 TLS connections") && failure.description.contains("--tls-keys"))
        let empty = Capture("[]", format: .tsharkJSON)
        #expect(empty.failures.first?.description.contains("contains no HTTP/1 or HTTP/2 message") == true)
        let mixed = Self.capture(Self.packet(tls, connection: 1), Self.packet(Self.request))
        #expect(mixed.failures.isEmpty)
    }

    @Test("A packet capture in a pipe is recognized", arguments: [0, 4])
    func piped(skipped: Int) {
        let pcapng: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A, 0x1C, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0]
        let pcap: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0]
        let answers = [Array(pcapng[skipped...]), pcap, Array("HTTP/1.1 200 OK".utf8)].map { beginning in
            CaptureFormat.isPacketCapture(beginning.span)
        }
        #expect(answers == [true, true, false])
        for bytes in [pcapng, pcap] {
            let failures = Capture(bytes: bytes).failures
            #expect(failures.map(\.code) == [.inputUnrecognized])
            #expect(failures.first?.description.contains("tshark") == true)
        }
    }

    @Test("JSON of tshark itself is read", .enabled(if: Samples.exist, "shared/samples is not beside the package"))
    func sample() throws {
        let capture = try Samples.capture("tshark-http.json")
        #expect(capture.failures.isEmpty)
        #expect(capture.responses.map(\.status) == [200, 302])
        #expect(capture.responses.first?.setCookie == (try Samples.capture("curl-i.txt").responses.first?.setCookie))
        #expect(capture.responses.first?.url == "http://app.example.test:8800/set8")
    }
}
