import CookieModel
import Foundation
import HTTPMessages
import NIOCore
import SessionStore
import TestSupport
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("A recording of the traffic of a gateway")
struct RecordingTests {
    private let folder = RecordingFolder()

    @Test("An entry has the request that the server gets and its response, each Set-Cookie line apart")
    func entry() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("body".utf8) else { return nil }
            return Array(
                "HTTP/1.1 201 Made it\r\nSet-Cookie: a=1; HttpOnly\r\nset-cookie: b=2; Path=/x\r\nX: caf".utf8) + [0xE9]
                + Array("\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n\"gr\u{FC}".utf8)
        }
        try fixture.set("sid=31d4", at: "http://127.0.0.1/")
        let path = folder.path("a.har")
        try await fixture.run(recording: try folder.recording("a.har", withSecrets: true)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "POST http://127.0.0.1:\(server.port)/p?q=%20x HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                    + "Content-Length: 4\r\n\r\nbody")
            _ = await client.octets { $0.suffix(2).elementsEqual("\u{FC}".utf8) }
        }
        #expect((try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) == 0o600)
        let entry = try #require(try HARFile(path).entries.first)
        #expect(entry.requestText("method") == "POST")
        #expect(entry.requestText("url") == "http://127.0.0.1:\(server.port)/p?q=%20x")
        #expect(entry.fields(of: "request", "cookie") == ["sid=31d4"])
        #expect((entry.request["postData"] as? [String: Any])?["text"] as? String == "body")
        #expect((entry.request["queryString"] as? [[String: String]]) == [["name": "q", "value": " x"]])
        #expect(entry.response["status"] as? Int == 201)
        #expect(entry.response["statusText"] as? String == "Made it")
        #expect(entry.fields(of: "response", "set-cookie") == ["a=1; HttpOnly", "b=2; Path=/x"])
        #expect(entry.content["text"] as? String == "\"gr\u{FC}")
        #expect(entry.content["encoding"] == nil)
        let octets = try Data(contentsOf: URL(filePath: path))
        #expect(octets.range(of: Data(#"{"name":"X","value":"caf\uDCE9"}"#.utf8)) != nil)
    }

    @Test("A body that is not UTF-8 is in Base64, and one with a coding names it")
    func base64() async throws {
        let fixture = try GatewayFixture()
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            let fields = "Content-Type: image/png\r\nContent-Encoding: br\r\nContent-Length: \(body.count)\r\n"
            return Array("HTTP/1.1 200 OK\r\n\(fields)\r\n".utf8) + body
        }
        try await fixture.run(recording: try folder.recording("b.har", withSecrets: false)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            _ = await client.octets { $0.count > body.count }
            // The entry is written before the connection takes another request.
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/2 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            _ = await client.octets { $0.count > 2 * body.count }
        }
        let content = try #require(try HARFile(folder.path("b.har")).entries.first).content
        #expect(content["encoding"] as? String == "base64" && content["_contentEncoding"] as? String == "br")
        #expect(Data(base64Encoded: content["text"] as? String ?? "") == Data(body))
    }

    @Test("Requests side by side are whole entries, and one that fails is an entry with the reason")
    func sideBySide() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8) : nil
        }
        try await fixture.run(recording: try folder.recording("s.har", withSecrets: false)) { address in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let client = try await RawClient.connect(to: address)
                        let port = number == 7 ? address.port : server.port
                        try await client.send(
                            "GET http://127.0.0.1:\(port)/\(number) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                                + "Connection: close\r\n\r\n")
                        _ = await client.response()
                    }
                }
                try await group.waitForAll()
            }
        }
        let entries = try HARFile(folder.path("s.har")).entries
        #expect(entries.count == 20)
        let failed = entries.filter { $0.response["_error"] != nil }
        #expect(failed.count == 1 && failed.first?.response["_error"] as? String == "destination_ip_prohibited")
        #expect(failed.first?.response["status"] as? Int == 0)
    }

    @Test("A file that exists is left alone")
    func exists() throws {
        try Data("kept".utf8).write(to: URL(filePath: folder.path("e.har")))
        #expect(throws: GatewayError.self) { try folder.recording("e.har", withSecrets: false) }
        #expect(try String(contentsOfFile: folder.path("e.har"), encoding: .utf8) == "kept")
    }

    @Test("UTF-8 is told from other octets, wherever they are cut")
    func encoding() {
        var generator = SeededGenerator(seed: 7)
        let pieces: [[UInt8]] = [
            Array("a".utf8), Array("é".utf8), Array("€".utf8), Array("😀".utf8), [0xC0, 0x80], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80], [0xFF],
        ]
        for _ in 0..<2000 {
            let octets = (0..<Int.random(in: 0...5, using: &generator)).flatMap { _ in
                pieces[Int.random(in: 0..<(generator.once(in: 2) ? 4 : pieces.count), using: &generator)]
            }
            var check = UTF8Check()
            var rest = octets[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...3, using: &generator))
                rest = rest.dropFirst(piece.count)
                check.take(piece)
            }
            #expect(check.isComplete == (String(validating: octets, as: UTF8.self) != nil), "\(octets)")
        }
    }
}
