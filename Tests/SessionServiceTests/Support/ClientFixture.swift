import HTTPTypes
import SessionClient
import SessionStore
import WebPrimitives

extension ServiceFixture {
    /// Runs a client of the service, whose requests are answered in this process.
    ///
    /// - Parameters:
    ///   - grant: What the client may do.
    ///   - path: The end of the paths whose requests get no answer.
    func runClient<Result: Sendable>(
        _ grant: AccessGrant = .everything, unreachable path: String? = nil,
        _ body: @Sendable @escaping (SessionClient) async throws -> Result
    ) async throws -> Result {
        try await run(grant) { service in
            let address = try SessionAddress("http://127.0.0.1:8722")
            let transport = FixtureTransport(service: service, base: address.description, unreachable: path)
            return try await body(SessionClient(address, over: transport))
        }
    }
}

/// Sends the requests of a client to the service of a fixture.
private struct FixtureTransport: SessionTransport {
    let service: ServiceClient
    let base: String
    let unreachable: String?

    private struct ConnectionLost: Error, CustomStringConvertible {
        let description = "connection lost"
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        // As HTTP clients do.
        try Task.checkCancellation()
        if let unreachable, request.url.hasSuffix(unreachable) { throw ConnectionLost() }
        var bytes: [UInt8]?
        if case .bytes(let body) = request.body { bytes = body }
        let answer = try await service.send(
            HTTPRequest.Method(request.method) ?? .get, String(request.url.dropFirst(base.count)), bytes: bytes,
            type: "application/json")
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            continuation.yield(Array(answer.text.utf8))
            continuation.finish()
        }
        return TransportResponse(status: answer.status, body: body)
    }
}

/// Pages that a client visits: what each URL answers, and the requests that came.
final class VisitedWeb {
    typealias Page = (status: Int, location: String?, setCookie: [Octets])

    private let page: (String, HTTPRequest) -> Page
    private(set) var requests: [(url: String, request: HTTPRequest, keepsBody: Bool)] = []

    /// - Parameter page: The answer to a request for a URL.
    init(_ page: @escaping (String, HTTPRequest) -> Page) {
        self.page = page
    }

    convenience init(_ pages: [String: Page]) {
        self.init { url, _ in pages[url] ?? (200, nil, []) }
    }

    func answer(_ request: HTTPRequest, _ chain: RedirectChain) throws -> (head: ResponseHead, payload: Int) {
        let url = try request.requestURL().description
        requests.append((url, request, chain.keepsBody))
        let page = page(url, request)
        let location = page.location.map { Octets($0) }
        return (ResponseHead(status: page.status, location: location, setCookie: page.setCookie), requests.count)
    }

    /// The value of a field in each request.
    func values(_ name: HTTPField.Name) -> [String?] { requests.map { $0.request.headerFields[name] } }
}
