// 1: a login with URLSession that survives a restart: redirects, another host, an upload. Run it twice: the second run is
// signed in.
import AppSupport
import URLSessionDecoration

@main
struct URLSessionLogin {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
        let session = DecoratedURLSession(jar: try await database.jar())

        var (account, response) = try await session.data(from: Server.url("/account"))
        if (response as? HTTPURLResponse)?.statusCode == 401 {
            // The answer is a redirect with the cookies of the session.
            (account, response) = try await session.data(for: Server.form("/login", "user=ada"))
        }
        expect(response.url?.path, "/account", "the login leads to the account")
        expect(account.text, "ada, 1 login", "one login is enough for both runs")

        let elsewhere = try await session.exchange(for: URLRequest(url: Server.url("/elsewhere")))
        expect(elsewhere.hops.count, 2, "the site redirects to another host")
        expect(elsewhere.payload.data.text.contains("sid"), false, "another host gets the session")
        let evil = elsewhere.hops[1].receipt.decisions[0]
        expect(evil.reasons.identifiers, ["domain-mismatch"], "another host may not set a cookie here")

        let photo = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * $0) })
        try photo.write(to: URL(filePath: "photo"))
        var upload = URLRequest(url: Server.url("/upload"))
        upload.httpMethod = "PUT"
        _ = try await session.upload(for: upload, fromFile: URL(filePath: "photo"))
        let (file, _) = try await session.data(from: Server.url("/file"))
        expect(file, photo, "the upload follows a redirect, body included")
    }
}
