import CookieModel
import Foundation
import SessionGateway
import SessionStore
import Synchronization
import TestSupport
import Testing
import WebPrimitives

@Suite("What passes through a gateway")
struct ExactnessTests {
    private static func random(_ count: Int, from characters: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in characters.randomElement(using: &generator) ?? 0x61 }
    }

    /// Field lines with any names, cases, blanks, repetitions and octets, none of which the gateway owns.
    private static func fields(_ generator: inout SeededGenerator) -> [UInt8] {
        let nameCharacters = Array("ABCabcxyz019!#$%&'*+.^_`|~".utf8)
        let valueCharacters = Array(0x21...0x7E as ClosedRange<UInt8>) + Array(0x80...0xFF) + [0x20, 0x09]
        var lines: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let known = ["Accept", "accept", "User-Agent", "If-None-Match", "Set-Cookie2", "ETag", "X-Same"]
                .randomElement(
                    using: &generator)
            let name =
                Bool.random(using: &generator)
                ? Array((known ?? "X").utf8)
                : Array("x-".utf8) + random(Int.random(in: 1...20, using: &generator), from: nameCharacters, &generator)
            let blanks = { (generator: inout SeededGenerator) in
                random(Int.random(in: 0...2, using: &generator), from: [0x20, 0x09], &generator)
            }
            let value = random(Int.random(in: 0...60, using: &generator), from: valueCharacters, &generator)
            lines += name + [0x3A] + blanks(&generator) + value + blanks(&generator) + [0x0D, 0x0A]
        }
        return lines
    }

    /// A body with its framing field, as it is sent and as it comes out.
    private static func body(_ generator: inout SeededGenerator) -> (field: [UInt8], sent: [UInt8], data: [UInt8]) {
        let all = Array(0x00...0xFF as ClosedRange<UInt8>)
        let data = random(Int.random(in: 0...3000, using: &generator), from: all, &generator)
        guard Bool.random(using: &generator) else {
            return (Array("Content-Length: \(data.count)\r\n".utf8), data, data)
        }
        var sent: [UInt8] = []
        var rest = data[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 1...1000, using: &generator))
            rest = rest.dropFirst(chunk.count)
            sent += Array(String(chunk.count, radix: 16, uppercase: Bool.random(using: &generator)).utf8)
            sent += Array((Bool.random(using: &generator) ? ";a=b" : "").utf8) + [0x0D, 0x0A] + chunk + [0x0D, 0x0A]
        }
        return (Array("Transfer-Encoding: chunked\r\n".utf8), sent + Array("0\r\n\r\n".utf8), data)
    }

    /// The head and the body of a message in one of both framings; `nil` while it is not complete.
    private static func parts(_ octets: [UInt8]) -> (head: [UInt8], body: [UInt8])? {
        guard let end = octets.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = Array(octets[..<end.upperBound])
        var rest = octets[end.upperBound...]
        let text = String(decoding: head, as: UTF8.self).lowercased()
        guard text.contains("\r\ntransfer-encoding: chunked\r\n") else {
            let length =
                text.firstRange(of: "\r\ncontent-length: ").flatMap {
                    Int(text[$0.upperBound...].prefix { $0.isNumber })
                } ?? 0
            return rest.count < length ? nil : (head, Array(rest))
        }
        var body: [UInt8] = []
        while let line = rest.firstRange(of: [0x0D, 0x0A]) {
            guard let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) else {
                return nil
            }
            rest = rest[line.upperBound...]
            guard rest.count >= size + 2 else { return nil }
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
            if size == 0 { return (head, body) }
        }
        return nil
    }

    @Test("Random messages are the same on both sides, but for the fields that the gateway owns")
    func identical() async throws {
        let count = Int(ProcessInfo.processInfo.environment["CRUMB_GATEWAY_MESSAGES"] ?? "") ?? 400
        let fixture = try GatewayFixture()
        let answers = Mutex<[[UInt8]]>([])
        let server = try await RecordingServer.start { octets in
            Self.parts(octets) == nil ? nil : answers.withLock { $0.popLast() }
        }
        let host = "127.0.0.1:\(server.port)"
        try await fixture.run { address in
            var generator = SeededGenerator(seed: 20)
            for round in 0..<count {
                let client = try await RawClient.connect(to: address)
                let target =
                    Array("/".utf8)
                    + Self.random(12, from: Array("az09%|[]^\"<>{}\\`;=&+,:@!$'()*~?".utf8) + [0xC3, 0xA9], &generator)
                let (fields, answerFields) = (Self.fields(&generator), Self.fields(&generator))
                let (body, answerBody) = (Self.body(&generator), Self.body(&generator))
                let rest = Array(" HTTP/1.1\r\nHost: \(host)\r\n".utf8) + fields + body.field + [0x0D, 0x0A]
                let answerHead =
                    Array("HTTP/1.1 \(Int.random(in: 200...203, using: &generator)) Any Reason\r\n".utf8) + answerFields
                answers.withLock {
                    $0.append(answerHead + answerBody.field + [0x0D, 0x0A] + answerBody.sent)
                }
                try await client.send(Array("POST http://\(host)".utf8) + target + rest + body.sent)
                let response = await client.octets { Self.parts($0) != nil }
                let request = server.requests.withLock { $0.removeFirst() }
                #expect(Self.parts(request)?.head == Array("POST ".utf8) + target + rest, "round \(round)")
                #expect(Self.parts(request)?.body == body.data, "round \(round)")
                #expect(Self.parts(response)?.head == answerHead + answerBody.field + [0x0D, 0x0A], "round \(round)")
                #expect(Self.parts(response)?.body == answerBody.data, "round \(round)")
                client.close()
            }
        }
    }

    @Test("Requests of two jars that pass at the same time share nothing")
    func isolation() async throws {
        let count = (Int(ProcessInfo.processInfo.environment["CRUMB_GATEWAY_MESSAGES"] ?? "") ?? 400) / 2
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            let text = String(decoding: octets, as: UTF8.self)
            let jar = text.contains("Cookie: jar=a") ? "a" : text.contains("Cookie: jar=b") ? "b" : "none"
            let head = "HTTP/1.1 200 OK\r\nSet-Cookie: only-\(jar)=1\r\nContent-Length: \(jar.utf8.count)\r\n\r\n"
            return text.contains("only-\(jar == "a" ? "b" : "a")") ? [] : Array((head + jar).utf8)
        }
        let url = "http://127.0.0.1:\(server.port)/"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in ["a", "b"] {
                group.addTask {
                    let fixture = try GatewayFixture()
                    try fixture.set("jar=\(name)", at: url)
                    try await fixture.run { address in
                        let client = try await RawClient.connect(to: address)
                        let answer = Array(
                            "HTTP/1.1 200 OK\r\nSet-Cookie: only-\(name)=1\r\nContent-Length: 1\r\n\r\n\(name)".utf8)
                        for round in 1...count {
                            try await client.send("GET \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
                            let octets = await client.octets { $0.count >= round * answer.count }
                            #expect(octets.count == round * answer.count && octets.suffix(answer.count) == answer[...])
                        }
                    }
                    let names = try fixture.jar.cookies().readable.map(\.name.description)
                    #expect(Set(names) == ["jar", "only-\(name)"])
                }
            }
            try await group.waitForAll()
        }
    }
}
