// 2: the same as 1 with AsyncHTTPClient. Run it twice: the second run is signed in.
import AppSupport
import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import NIOCore
import NIOHTTP1
import RequestDecoration
import SessionStore

@main
struct AsyncHTTPClientLogin {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
        let decorator = RequestDecorator(jar: try await database.jar())
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

        func exchange(
            _ path: String, _ method: HTTPMethod = .GET, _ body: ByteBuffer? = nil
        ) async throws -> (Exchange<HTTPClientResponse>, ByteBuffer) {
            var request = HTTPClientRequest(url: Server.site + path)
            request.method = method
            request.body = body.map { .bytes($0) }
            let exchange = try await client.exchange(request, by: decorator, timeout: .seconds(30))
            return (exchange, try await exchange.payload.body.collect(upTo: 1 << 22))
        }

        var (account, text) = try await exchange("/account")
        if account.head.status == 401 {
            (account, text) = try await exchange("/login", .POST, ByteBuffer(string: "user=ada"))
        }
        expect(String(buffer: text), "ada, 1 login", "one login is enough for both runs")

        let (elsewhere, names) = try await exchange("/elsewhere")
        expect(elsewhere.hops.count, 2, "the site redirects to another host")
        expect(String(buffer: names).contains("sid"), false, "another host gets the session")
        let evil = elsewhere.hops[1].receipt.decisions[0]
        expect(evil.reasons.identifiers, ["domain-mismatch"], "another host may not set a cookie here")

        let photo = ByteBuffer(bytes: (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * $0) })
        let (stored, _) = try await exchange("/upload", .PUT, photo)
        expect(stored.hops.map(\.status), [307, 201], "the upload follows a redirect, body included")
        expect(try await exchange("/file").1, photo, "the site has the file")
        try await client.shutdown()
    }
}
