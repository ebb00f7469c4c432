// 4: a login with OAuth2, tokens that are refreshed once, and a site that gets a token when it says "not signed in".
import AppSupport
import OAuth2Login
import URLSessionDecoration

@main
struct TokenLogins {
    static func main() async throws {
        let time = ManualTime(.now)
        let database = try SessionDatabase(path: "app.sqlite", keys: .file("app.key"), clock: .manual(time))
        let transport = URLSessionEndpointTransport()
        let login = TokenLogin(
            issuer: Server.issuer, clientID: "app", scopes: ["openid", "offline_access"], transport: transport)
        let logIn: @Sendable () async throws -> Void = {
            _ = try await login.run(storingAs: "work", in: database.tokens) { url in
                // An app opens the user's browser: 'xdg-open', or 'open' on macOS.
                let browser = Process()
                browser.executableURL = URL(filePath: "/usr/bin/env")
                browser.arguments = ["curl", "--silent", "--location", "--output", "page", url.absoluteString]
                try browser.run()
            }
        }
        try await logIn()
        expect(try database.tokens.get("work").profile.id.account, "ada", "the user is signed in")

        // Requests to the API carry the token.
        let settings = DecorationSettings(
            authorization: [
                AuthorizationRule(scope: try URLScope(Server.site + "/api"), named: "work", in: database.tokens)
            ])
        let session = DecoratedURLSession(jar: try await database.jar(), settings: settings)
        let (me, _) = try await session.data(from: Server.url("/api/me"))
        expect(me.text, "ada by token", "the API knows the user")

        // An hour later, twenty callers share one refresh.
        time.advance(bySeconds: 3600)
        let refresher = login.refresher(of: database.tokens)
        let access = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { try await refresher.token("work").tokens.accessToken.exposedText } }
            var texts: Set<String?> = []
            for try await text in group { texts.insert(text) }
            return texts
        }
        expect(access.count, 1, "all callers have one token")
        expect(try await counts(), "1 1 0 0", "one login and one refresh")

        // The site redirects to its login page: the app delivers the token as a cookie, and asks the user if it has to.
        let rule = try LoginRule(
            scope: Server.site + "/app", signs: LoginRule.Signs(redirects: ["/app/login"]), profile: "work",
            delivery: .cookie(CookieTemplate("app={access_token}; Path=/app; HttpOnly")))
        let fallback = LoginFallback(
            rules: [rule], store: database.tokens, refresher: refresher, transport: transport
        ) { _ in try await logIn() }
        let home = URLRequest(url: Server.url("/app/home"))
        let page = try await session.exchange(for: home, fallback: fallback)
        expect(page.payload.data.text, "ada by cookie", "the fallback has signed the user in")
        _ = try await URLSession.shared.data(from: Server.url("/forget", at: Server.issuer))
        let again = try await session.exchange(for: home, fallback: fallback)
        expect(again.payload.data.text, "ada by cookie", "the user has logged in again")
        expect(try await counts(), "2 1 0 0", "the server has ended the login, and the app asked for another one")

        try await login.logOut("work", from: database.tokens)
        expect(try await counts(), "2 1 0 1", "the server has revoked the tokens")
    }

    static func counts() async throws -> String {
        try await URLSession.shared.data(from: Server.url("/counts", at: Server.issuer)).0.text
    }
}
