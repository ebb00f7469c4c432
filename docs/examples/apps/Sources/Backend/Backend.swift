// 5: a backend in which each user has a jar, and calls the site in the user's name.
import AppSupport
import AsyncHTTPClientDecoration
import Hummingbird

/// The calls of the site.
struct Calls {
    let database: SessionDatabase
    let client: HTTPClient

    func logIn(_ user: String) async throws -> Response {
        var login = HTTPClientRequest(url: Server.site + "/login")
        login.method = .POST
        login.body = .bytes(ByteBuffer(string: "user=\(user)"))
        return try await call(login, for: user)
    }

    func account(of user: String) async throws -> Response {
        try await call(HTTPClientRequest(url: Server.site + "/account"), for: user)
    }

    private func call(_ request: HTTPClientRequest, for user: String) async throws -> Response {
        let response = try await client.execute(request, jar: database.jar(named: user))
        let body = try await response.body.collect(upTo: 1 << 20)
        return Response(status: .init(code: Int(response.status.code)), body: ResponseBody(byteBuffer: body))
    }
}
