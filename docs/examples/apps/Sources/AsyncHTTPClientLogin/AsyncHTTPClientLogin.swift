// 2: the same as 1 with AsyncHTTPClient. Run it twice: the second run is signed in.
import AppSupport
import AsyncHTTPClientDecoration

@main
struct AsyncHTTPClientLogin {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
        let jar = try await database.jar()
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

        var account = try await client.execute(HTTPClientRequest(url: Server.site + "/account"), jar: jar)
        if account.status == .unauthorized {
            var login = HTTPClientRequest(url: Server.site + "/login")
            login.method = .POST
            login.body = .bytes(ByteBuffer(string: "user=ada"))
            account = try await client.execute(login, jar: jar)
        }
        let text = String(buffer: try await account.body.collect(upTo: 1 << 20))
        expect(text, "ada, 1 login", "one login is enough for both runs")

        let elsewhere = try await client.exchange(
            HTTPClientRequest(url: Server.site + "/elsewhere"), by: RequestDecorator(jar: jar), timeout: .seconds(30))
        expect(elsewhere.hops.count, 2, "the site redirects to another host")
        let names = String(buffer: try await elsewhere.payload.body.collect(upTo: 1 << 20))
        expect(names.contains("sid"), false, "another host gets the session")
        let evil = elsewhere.hops[1].receipt.decisions[0]
        expect(evil.reasons.identifiers, ["domain-mismatch"], "another host may not set a cookie here")

        let photo = ByteBuffer(bytes: (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * $0) })
        var upload = HTTPClientRequest(url: Server.site + "/upload")
        upload.method = .PUT
        upload.body = .bytes(photo)
        _ = try await client.execute(upload, jar: jar)
        let file = try await client.execute(HTTPClientRequest(url: Server.site + "/file"), jar: jar)
        expect(try await file.body.collect(upTo: 1 << 22), photo, "the upload follows a redirect, body included")
        try await client.shutdown()
    }
}
