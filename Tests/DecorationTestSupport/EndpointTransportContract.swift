import HTTPTypes
public import OAuth2
public import TestSupport
import Testing

/// The contract of a transport to authorization servers, with requests over the loopback interface.
public struct EndpointTransportContract: Sendable {
    private let send: @Sendable (EndpointRequest) async throws -> EndpointResponse

    /// - Parameter send: sends a request with the transport.
    public init(_ send: @escaping @Sendable (EndpointRequest) async throws -> EndpointResponse) {
        self.send = send
    }

    /// A request with a secret in its body; that of a refresh, if it has a last moment.
    public static func request(
        _ path: String = "/", at port: UInt16, before moment: ContinuousClock.Instant? = nil,
        within timeout: Duration = .seconds(3600)
    ) throws -> EndpointRequest {
        let endpoint = try EndpointURL("http://127.0.0.1:\(port)\(path)")
        let revocation = TokenRevocation(endpoint: endpoint, authentication: .publicClient(clientID: "app"))
        let request = revocation.request(revoking: Secret("s3cret"), .refreshToken)
        return moment.map { request.sent(before: $0, answeredWithin: timeout) } ?? request
    }

    /// A request arrives as it is, and its response comes with status, fields and body.
    public func exchange() async throws {
        let server = try LoopbackServer { _ in .init(400, body: #"{"error":"invalid_grant"}"#) }
        let response = try await send(try Self.request("/revoke?a=b", at: server.port))
        #expect(response.status == .badRequest && response.exposedBody == Array(#"{"error":"invalid_grant"}"#.utf8))
        #expect(response.exposedFields[.contentLength] == "25" && response.endpoint?.path == "/revoke?a=b")
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.target == "/revoke?a=b")
        #expect(request.text("content-type") == ["application/x-www-form-urlencoded"])
        #expect(String(decoding: request.body, as: UTF8.self).contains("token=s3cret"))
    }

    /// A redirect is a response, and its cookies are not sent with the next request.
    public func redirect(status: Int) async throws {
        let server = try LoopbackServer { _ in .init(status, setCookie: ["a=1"], location: "/elsewhere") }
        for _ in 0..<2 {
            let response = try await send(try Self.request(at: server.port, before: .now + .seconds(3600)))
            #expect(response.status.code == status && response.exposedFields[.location] == "/elsewhere")
        }
        #expect(
            server.requests.map(\.target) == ["/", "/"] && server.requests.allSatisfy { $0.text("cookie").isEmpty })
    }

    /// A body that is too long is passed on up to one byte more than the limit.
    public func longBody() async throws {
        let body = String(repeating: "x", count: 3 * EndpointResponse.maximumBodySize)
        let server = try LoopbackServer { _ in .init(body: body) }
        let patient = try Self.request(at: server.port, before: .now + .seconds(3600))
        let response = try await send(patient)
        #expect(response.exposedBody.count == EndpointResponse.maximumBodySize + 1)
    }

    /// A response that breaks off is passed on as far as it came.
    public func truncation() async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(body: #"{"refresh_token":"new""#)
            response.missingByteCount = 100
            return response
        }
        let response = try await send(try Self.request(at: server.port, before: .now + .seconds(3600)))
        #expect(response.exposedBody == Array(#"{"refresh_token":"new""#.utf8))
    }

    /// No body is sent after the last moment.
    ///
    /// - Returns: The requests that the server got.
    @discardableResult
    public func lateness() async throws -> [LoopbackServer.Request] {
        let server = try LoopbackServer { _ in .init() }
        let late = try Self.request(at: server.port, before: .now - .seconds(1))
        let error = await #expect(throws: OAuth2Error.self) { try await send(late) }
        #expect("\(try #require(error))".contains("nothing was sent"))
        #expect(server.requests.allSatisfy { $0.body.isEmpty })
        return server.requests
    }

    /// A connection that is refused says so.
    public func refusal(_ reason: String) async throws {
        let port = try ClosedPort()
        let refused = try Self.request(at: port.number)
        let error = await #expect(throws: OAuth2Error.self) { try await send(refused) }
        withExtendedLifetime(port) {}
        #expect("\(try #require(error))".contains(reason))
    }
}
