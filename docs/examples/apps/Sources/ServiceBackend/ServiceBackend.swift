// 5b: the backend of 5 whose jars are those of `crumb serve`, so that several machines share them.
import AppSupport
import AsyncHTTPClient
import AsyncHTTPClientDecoration
import Hummingbird
import NIOHTTP1
import SessionClient

/// The calls of the site.
struct Calls {
    let service: SessionClient
    let client: HTTPClient

    func logIn(_ user: String) async throws -> Response {
        _ = try await service.answer(to: .putJar(user))
        var login = HTTPClientRequest(url: Server.site + "/login")
        login.method = .POST
        login.body = .bytes(ByteBuffer(string: "user=\(user)"))
        return try await call(login, for: user)
    }

    func account(of user: String) async throws -> Response {
        try await call(HTTPClientRequest(url: Server.site + "/account"), for: user)
    }

    private func call(_ request: HTTPClientRequest, for user: String) async throws -> Response {
        let exchange = try await service.exchange(request, in: user) { request, _ in
            let response = try await client.execute(request, timeout: .seconds(30))
            return (ResponseHead(response), response)
        }
        let body = try await exchange.payload.body.collect(upTo: 1 << 20)
        return Response(status: .init(code: exchange.head.status), body: ResponseBody(byteBuffer: body))
    }
}
