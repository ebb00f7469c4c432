import CookieModel
import NIOCore
import SessionGateway
import SessionStore
import Synchronization
import Testing

@Suite("Messages that are not perfect, and pass as browsers take them")
struct LenienceTests {
    /// A response to a GET request through a gateway.
    ///
    /// - Parameters:
    ///   - answer: The octets of the server, which closes the connection then.
    ///   - isWhole: Whether no more of the response is to come.
    /// - Returns: What the client got up to the end of the connection or of the response, and what the server got.
    private func exchange(
        _ answer: String, fields: String = "", in fixture: GatewayFixture? = nil,
        until isWhole: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async throws -> (response: String, request: String) {
        let fixture = try fixture ?? GatewayFixture()
        let server = try await RecordingServer.start(closing: true) { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8) ? Array(answer.utf8) : nil
        }
        let responses = AsyncStream<String>.makeStream()
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            try await client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n")
            responses.continuation.yield(await client.response(until: isWhole))
        }
        var iterator = responses.stream.makeAsyncIterator()
        return (await iterator.next() ?? "", server.firstRequest)
    }

    @Test("A line that is no field is left out of a response, and the others pass")
    func notAField() async throws {
        let answer = "HTTP/1.1 200 OK\r\n<!-- proxy -->\r\nA: 1\r\nno field\r\n : x\r\nContent-Length: 2\r\n\r\nhi"
        let response = try await exchange(answer) { $0.hasSuffix("hi") }.response
        #expect(response == "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 2\r\n\r\nhi")
    }

    @Test(
        "A line that may be meant to frame the response, and a NUL, get a 502",
        arguments: ["Transfer-Encoding\u{B}: chunked", "Content-Length 2", "A: \u{0}"])
    func dangerous(line: String) async throws {
        let response = try await exchange("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\nhi").response
        #expect(response.hasPrefix("HTTP/1.1 502 ") && !response.contains("hi\r\n"))
    }

    @Test("A control character in a field passes to the server and back")
    func controlCharacters() async throws {
        let answer = "HTTP/1.1 200 OK\r\nX: a\u{1}\u{7F}b\r\nContent-Length: 2\r\n\r\nhi"
        let (response, request) = try await exchange(answer, fields: "Y: c\u{2}\u{1B}d\r\n") { $0.hasSuffix("hi") }
        #expect(response == answer)
        #expect(request.contains("\r\nY: c\u{2}\u{1B}d\r\n"))
    }

    @Test(
        "A head that the server ends without its empty line reaches the client as it is",
        arguments: [
            ("HTTP/1.1 200 OK\r\nA: 1\r\n", "HTTP/1.1 200 OK\r\nA: 1\r\n"),
            ("HTTP/1.0 200 OK\nA: 1\nSet-Cookie: cut=1; Secu", "HTTP/1.1 200 OK\r\nA: 1\r\n"),
            ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
            ),
        ])
    func cutHead(answer: String, expected: String) async throws {
        let fixture = try GatewayFixture()
        #expect(try await exchange(answer, in: fixture).response == expected)
        #expect(try fixture.jar.cookies().readable.isEmpty)
        #expect(fixture.records.withLock { $0.map(\.status) } == [200])
    }

    @Test(
        "Octets that begin no response, and then end, get a 502",
        arguments: ["HT", "hello", "HTTP/1.1 100 Continue\r\n"])
    func cutBeginning(answer: String) async throws {
        let response = try await exchange(answer).response
        #expect(response.hasPrefix("HTTP/1.1 502 "), "\(response)")
    }

    @Test("An interim response passes without fields that frame a body, and what follows is the next response")
    func interim() async throws {
        let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n"
        for fields in [
            "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip\r\nContent-Length: x\r\n",
        ] {
            let response = try await exchange("\(hints)\(fields)\r\n\(final)") { $0.hasSuffix("hi") }.response
            #expect(response == "\(hints)\r\n\(final)")
        }
        // It has no body. Octets in the place of one are no response.
        let response = try await exchange("\(hints)Content-Length: 5\r\n\r\nhello\(final)").response
        #expect(response.hasPrefix("\(hints)\r\nHTTP/1.1 502 "))
    }

    @Test("A hundred interim responses pass, as servers send them during long work")
    func manyInterim() async throws {
        let interim = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100)
        let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        #expect(try await exchange(interim + final) { $0.hasSuffix("hi") }.response == interim + final)
    }

    @Test("A request with Content-Length: 0 has no body, so its server may change the protocol")
    func upgradeWithoutBody() async throws {
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n"
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8) ? Array((answer + "hello").utf8) : nil
        }
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            try await client.send(
                "POST http://\(host)/exec HTTP/1.1\r\nHost: \(host)\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
                    + "Content-Length: 0\r\n\r\n")
            let response = await client.response { $0.hasSuffix("hello") }
            #expect(response.hasPrefix("HTTP/1.1 101 ") && response.hasSuffix("\r\n\r\nhello"), "\(response)")
        }
        #expect(server.firstRequest.contains("Content-Length: 0\r\n"))
    }

    @Test("In HTTP/1.0, an Upgrade field is ignored")
    func formerUpgrade() async throws {
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n".utf8) : nil
        }
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/ HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
            #expect(await client.response().hasPrefix("HTTP/1.1 502 "))
        }
        #expect(!server.firstRequest.lowercased().contains("upgrade"))
    }

    @Test("An answer to a client that waits for permission to send its body ends the connection")
    func refusedExpectation() async throws {
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n".utf8) : nil
        }
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            try await client.send(
                "POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            let head = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            #expect(await client.response { $0.hasSuffix("\r\n\r\n") } == head)
            await client.end()
            #expect(await client.response() == head)
        }
    }

    @Test(
        "User information of a tunnel that is refused is not in the record",
        arguments: ["u:secret@shop.example:443", "u:secret@"])
    func userInformation(target: String) async throws {
        let fixture = try GatewayFixture()
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("CONNECT \(target) HTTP/1.1\r\nHost: shop.example:443\r\n\r\n")
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 400 ") && !response.contains("secret"))
        }
        #expect(fixture.records.withLock { $0.map(\.url) } == [target.hasSuffix("@") ? "" : "shop.example:443"])
    }
}
