import HTTPCaching
import Synchronization
import Testing

@testable import SessionGateway

@Suite("The cache policy that a client names for one request")
struct RequestPolicyTests {
    private let home: CachingGateway

    init() throws {
        home = try CachingGateway()
    }

    /// A server whose responses are fresh for a minute, and that confirms them.
    private static func server() async throws -> RecordingServer {
        try await RecordingServer.start { octets in
            if String(decoding: octets, as: UTF8.self).contains("If-None-Match") {
                return Array("HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\n\r\n".utf8)
            }
            let fields = "Cache-Control: max-age=60\r\nETag: \"v\"\r\nVary: Crumb-Cache-Policy\r\nContent-Length: 5\r\n"
            return Array("HTTP/1.1 200 OK\r\n\(fields)\r\nhello".utf8)
        }
    }

    private static func texts(_ server: RecordingServer) -> [String] {
        server.requests.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(
        "It decides before the table and the other rules, and never reaches the server",
        arguments: [
            (RequestCachePolicy.useProtocolCachePolicy, 0, "; hit;", nil),
            (.useProtocolCachePolicy, 100, "fwd=stale; fwd-status=304", "If-None-Match: \"v\""),
            (.reloadIgnoringLocalCacheData, 0, "fwd=bypass; fwd-status=200; stored", "Host:"),
            (.reloadIgnoringLocalAndRemoteCacheData, 0, "fwd=bypass; fwd-status=200", "Cache-Control: no-cache"),
            (.returnCacheDataElseLoad, 100, "; hit;", nil),
            (.returnCacheDataDontLoad, 100, "; hit;", nil),
            (.reloadRevalidatingCacheData, 0, "fwd=bypass; fwd-status=304", "If-None-Match: \"v\""),
        ] as [(RequestCachePolicy, Int64, String, String?)])
    func policies(policy: RequestCachePolicy, seconds: Int64, status: String, sent: String?) async throws {
        let server = try await Self.server()
        // A field of another policy does not vary the response.
        _ = try await home.responses(
            to: ["GET /page Crumb-Cache-Policy: reloadIgnoringLocalCacheData"], from: server)
        if policy != .useProtocolCachePolicy { home.rules = try CachingRules(table: "always-ask http://*/page\n") }
        let text = try await home.responses(
            to: ["GET /page crumb-cache-policy: \(policy.rawValue)"], from: server, later: seconds)[0]
        #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("\r\n\r\nhello"), "\(text)")
        #expect(text.contains(status), "\(text)")
        if policy != .useProtocolCachePolicy { #expect(text.contains("detail=\(policy.rawValue)"), "\(text)") }
        let requests = Self.texts(server)
        #expect(requests.count == (sent == nil ? 1 : 2))
        if let sent { #expect(requests.last?.contains(sent) == true, "\(requests)") }
        #expect(!requests.contains { $0.lowercased().contains("crumb-cache-policy") }, "\(requests)")
    }

    @Test("Without a stored response, returnCacheDataDontLoad is answered with 504 and returnCacheDataElseLoad is sent")
    func nothingStored() async throws {
        let server = try await Self.server()
        let texts = try await home.responses(
            to: [
                "GET / Crumb-Cache-Policy: returnCacheDataDontLoad",
                "POST / Crumb-Cache-Policy: returnCacheDataDontLoad",
                "GET / Crumb-Cache-Policy: returnCacheDataElseLoad",
            ], from: server)
        for text in texts.prefix(2) {
            #expect(text.hasPrefix("HTTP/1.1 504") && text.contains("Crumb-Cache-Policy forbids"), "\(text)")
        }
        #expect(texts[2].hasPrefix("HTTP/1.1 200"), "\(texts[2])")
        #expect(Self.texts(server).count == 1)
    }

    @Test("A rule that forbids to store still does")
    func neverStored() async throws {
        home.rules = try CachingRules(table: "never-store http://*/page\n")
        let server = try await Self.server()
        let request = "GET /page Crumb-Cache-Policy: returnCacheDataElseLoad"
        let texts = try await home.responses(to: [request, request], from: server)
        #expect(texts.allSatisfy { $0.contains("fwd=uri-miss") && !$0.contains("stored") }, "\(texts)")
    }

    @Test(
        "A name that is no policy is refused, so that a mistake does not pass unnoticed",
        arguments: ["cache-please", "", "ReturnCacheDataElseLoad", "keep", "useProtocolCachePolicy, keep"])
    func unknown(name: String) async throws {
        let server = try await Self.server()
        let text = try await home.responses(to: ["GET / Crumb-Cache-Policy: \(name)"], from: server)[0]
        #expect(text.hasPrefix("HTTP/1.1 400") && text.contains("error=http_request_error"), "\(text)")
        #expect(text.contains("its Crumb-Cache-Policy field is not one name"), "\(text)")
        #expect(Self.texts(server).isEmpty)
    }

    @Test("Without a cache, the field reaches neither the server nor a recording, and nothing is sent if it says so")
    func withoutCache() async throws {
        let server = try await Self.server()
        let folder = RecordingFolder()
        let fixture = try GatewayFixture()
        try await fixture.run(recording: try folder.recording("a.har", withSecrets: true)) { address in
            for (policy, status) in [("returnCacheDataElseLoad", 200), ("returnCacheDataDontLoad", 504), ("x", 400)] {
                let client = try await RawClient.connect(to: address)
                try await client.send(
                    "GET http://127.0.0.1:\(server.port)/\(policy) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                        + "Crumb-Cache-Policy: \(policy)\r\nConnection: close\r\n\r\n")
                let text = await client.response()
                #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
                client.close()
            }
        }
        let requests = Self.texts(server)
        #expect(requests.count == 1 && !requests[0].lowercased().contains("crumb-cache-policy"), "\(requests)")
        let entries = try HARFile(folder.path("a.har")).entries
        #expect(entries.map { $0.fields(of: "request", "crumb-cache-policy") } == [[], []])
    }
}
