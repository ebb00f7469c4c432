import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import TestSupport
import Testing

/// The contract of a transport to authorization servers, with requests over the loopback interface.
@Suite("AsyncHTTPClient to an authorization server")
struct EndpointTransportTests {
    private func send(
        _ request: EndpointRequest, following redirects: HTTPClient.Configuration.RedirectConfiguration = .disallow
    ) async throws -> EndpointResponse {
        var configuration = HTTPClient.Configuration(redirectConfiguration: redirects)
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result = await Task { try await HTTPClientEndpointTransport(client).send(request) }.result
        try await client.shutdown()
        return try result.get()
    }

    private func request(
        _ path: String, at port: UInt16, before moment: ContinuousClock.Instant? = nil,
        within timeout: Duration = .seconds(120)
    ) throws -> EndpointRequest {
        let endpoint = try EndpointURL("http://127.0.0.1:\(port)\(path)")
        let revocation = TokenRevocation(endpoint: endpoint, authentication: .publicClient(clientID: "app"))
        let request = revocation.request(revoking: Secret("s3cret"), .refreshToken)
        return moment.map { request.sent(before: $0, answeredWithin: timeout) } ?? request
    }

    @Test("A request arrives as it is, and its response comes with status, fields and body")
    func exchange() async throws {
        let server = try LoopbackServer { _ in .init(400, body: #"{"error":"invalid_grant"}"#) }
        let response = try await send(try request("/revoke?a=b", at: server.port))
        #expect(response.status == .badRequest && response.exposedBody == Array(#"{"error":"invalid_grant"}"#.utf8))
        #expect(response.exposedFields[.contentLength] == "25" && response.endpoint?.path == "/revoke?a=b")
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.target == "/revoke?a=b")
        #expect(String(decoding: request.body, as: UTF8.self).contains("token=s3cret"))
    }

    @Test("A redirect is a response, whatever its status", arguments: [302, 307])
    func redirect(status: Int) async throws {
        let server = try LoopbackServer { _ in .init(status, location: "/elsewhere") }
        let response = try await send(try request("/", at: server.port))
        #expect(response.status.code == status && response.exposedFields[.location] == "/elsewhere")
        #expect(server.requests.count == 1)
    }

    @Test("A client that follows redirects is refused, and sends no secret twice", arguments: [302, 307])
    func followedRedirect(status: Int) async throws {
        let server = try LoopbackServer { $0.target == "/" ? .init(status, location: "/elsewhere") : .init() }
        let sending = Task {
            try await send(try request("/", at: server.port), following: .follow(max: 5, allowCycles: false))
        }
        switch await sending.result {
        // A body that cannot be repeated: the client does not follow.
        case .success(let response): #expect(response.status.code == status && server.requests.count == 1)
        case .failure(let error):
            #expect((error as? OAuth2Error)?.code == .unusableSettings && "\(error)".contains("redirectConfiguration"))
        }
        #expect(server.requests.filter { !$0.body.isEmpty }.count == 1)
    }

    @Test("A body that is too long is passed on up to one byte more than the limit")
    func longBody() async throws {
        let body = String(repeating: "x", count: 3 * EndpointResponse.maximumBodySize)
        let server = try LoopbackServer { _ in .init(body: body) }
        let patient = try request("/", at: server.port, before: .now + .seconds(3600), within: .seconds(3600))
        let response = try await send(patient)
        #expect(response.exposedBody.count == EndpointResponse.maximumBodySize + 1)
    }

    @Test("A response that breaks off is passed on as far as it came: it may contain the new refresh token")
    func truncation() async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(body: #"{"refresh_token":"new""#)
            response.missingByteCount = 100
            return response
        }
        let response = try await send(try request("/", at: server.port))
        #expect(response.exposedBody == Array(#"{"refresh_token":"new""#.utf8))
    }

    @Test("A server that stays silent is given up on, without secrets in the error")
    func silence() async throws {
        let isAsked = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            isAsked.wait()
            return .init()
        }
        defer { isAsked.signal() }
        let silent = try request(
            "/token?hint=s3cret", at: server.port, before: .now + .seconds(3600), within: .milliseconds(300))
        let error = await #expect(throws: OAuth2Error.self) { try await send(silent) }
        let text = "\(try #require(error))"
        #expect(error?.code == .unreachable && !text.contains("s3cret"))
        // On a machine with much to do, the time is over before the connection is there.
        let isConnected = !text.contains("making the connection took too long")
        #expect(!isConnected || text.contains("it did not answer in time") && text.contains("The refresh was sent"))
    }

    @Test("Nothing is sent after the last moment")
    func lateness() async throws {
        let server = try LoopbackServer { _ in .init() }
        let late = try request("/", at: server.port, before: .now - .seconds(1))
        let error = await #expect(throws: OAuth2Error.self) { try await send(late) }
        #expect("\(try #require(error))".contains("nothing was sent"))
        #expect(server.requests.allSatisfy { $0.body.isEmpty })
    }

    @Test("A connection that is refused says so")
    func refusal() async throws {
        let port = try ClosedPort()
        let refused = try request("/", at: port.number)
        let error = await #expect(throws: OAuth2Error.self) { try await send(refused) }
        withExtendedLifetime(port) {}
        #expect("\(try #require(error))".contains("connection refused"))
    }

    @Test("A client's certificate that cannot be read is not left out")
    func certificate() async throws {
        let server = try LoopbackServer { _ in .init() }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let credentials = ProfileCredentials(
            settings: ProfileSettings(
                grant: .authorizationCode, endpoints: [:], authenticationMethod: .tlsClientAuth),
            clientCertificate: Secret("no certificate"))
        let transport = try credentials.binding(
            HTTPClientEndpointTransport(client), now: { Timestamp(seconds: 1_800_000_000) })
        let shown = try request("/", at: server.port)
        let result = await Task { try await transport.send(shown) }.result
        try await client.shutdown()
        let error = #expect(throws: OAuth2Error.self) { try result.get() }
        #expect("\(try #require(error))".contains("certificate or its key cannot be read") && server.requests.isEmpty)
    }
}
