import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import DecorationTestSupport
import Foundation
import OAuth2
import TestSupport
import Testing

/// The contract of a transport to authorization servers, with requests over the loopback interface.
@Suite("AsyncHTTPClient to an authorization server")
struct EndpointTransportTests {
    private static func send(
        _ request: EndpointRequest, following redirects: HTTPClient.Configuration.RedirectConfiguration = .disallow
    ) async throws -> EndpointResponse {
        var configuration = HTTPClient.Configuration(redirectConfiguration: redirects)
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result = await Task { try await HTTPClientEndpointTransport(client).send(request) }.result
        try await client.shutdown()
        return try result.get()
    }

    private let contract = EndpointTransportContract { try await EndpointTransportTests.send($0) }

    @Test("A request arrives as it is, and its response comes with status, fields and body")
    func exchange() async throws { try await contract.exchange() }

    @Test("A redirect is a response, whatever its status", arguments: [302, 307])
    func redirect(status: Int) async throws { try await contract.redirect(status: status) }

    @Test("A body that is too long is passed on up to one byte more than the limit")
    func longBody() async throws { try await contract.longBody() }

    @Test("A response that breaks off is passed on as far as it came: it may contain the new refresh token")
    func truncation() async throws { try await contract.truncation() }

    @Test("Nothing is sent after the last moment")
    func lateness() async throws { try await contract.lateness() }

    @Test("A connection that is refused says so")
    func refusal() async throws { try await contract.refusal("connection refused") }

    @Test("A client that follows redirects is refused, and sends no secret twice", arguments: [302, 307])
    func followedRedirect(status: Int) async throws {
        let server = try LoopbackServer { $0.target == "/" ? .init(status, location: "/elsewhere") : .init() }
        let sending = Task {
            try await Self.send(
                try EndpointTransportContract.request(at: server.port), following: .follow(max: 5, allowCycles: false))
        }
        switch await sending.result {
        // A body that cannot be repeated: the client does not follow.
        case .success(let response): #expect(response.status.code == status && server.requests.count == 1)
        case .failure(let error):
            #expect((error as? OAuth2Error)?.code == .unusableSettings && "\(error)".contains("redirectConfiguration"))
        }
        #expect(server.requests.filter { !$0.body.isEmpty }.count == 1)
    }

    @Test("A server that stays silent is given up on, without secrets in the error")
    func silence() async throws {
        let isAsked = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            isAsked.wait()
            return .init()
        }
        defer { isAsked.signal() }
        let silent = try EndpointTransportContract.request(
            "/token?hint=s3cret", at: server.port, before: .now + .seconds(3600), within: .milliseconds(300))
        let error = await #expect(throws: OAuth2Error.self) { try await Self.send(silent) }
        let text = "\(try #require(error))"
        #expect(error?.code == .unreachable && !text.contains("s3cret"))
        // On a machine with much to do, the time is over before the connection is there.
        let isConnected = !text.contains("making the connection took too long")
        #expect(!isConnected || text.contains("it did not answer in time") && text.contains("The refresh was sent"))
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
        let shown = try EndpointTransportContract.request(at: server.port)
        let result = await Task { try await transport.send(shown) }.result
        try await client.shutdown()
        let error = #expect(throws: OAuth2Error.self) { try result.get() }
        #expect("\(try #require(error))".contains("certificate or its key cannot be read") && server.requests.isEmpty)
    }
}
