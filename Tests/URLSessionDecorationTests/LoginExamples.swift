import OAuth2Login
import URLSessionDecoration

struct Shop {
    static func main() async throws {
        let database = try SessionDatabase(path: "shop.sqlite", keys: .file("shop.key"))
        let login = TokenLogin(
            issuer: "https://id.example", clientID: "shop", scopes: ["openid", "offline_access"],
            transport: URLSessionEndpointTransport())
        let refresher = login.refresher(of: database.tokens)

        let stored: StoredToken
        do {
            // Valid for a request, renewed if it is due.
            stored = try await refresher.token("work")
        } catch let error where needsLogin(error) {
            stored = try await login.run(storingAs: "work", in: database.tokens) { url in
                let browser = Process()
                browser.executableURL = URL(filePath: "/usr/bin/env")
                browser.arguments = ["xdg-open", url.absoluteString]
                try browser.run()
            }
        }
        print("signed in as", stored.profile.id.account)
        print("the token was received at", stored.tokens.receivedAt)
    }

    /// Whether the user has not logged in yet, or the login has ended.
    static func needsLogin(_ error: any Error) -> Bool {
        switch error {
        case let error as SessionStoreError: error.code == .tokenNotFound
        case let error as TokenRefreshError: error.code == .loginRequired || error.code == .tokenExpired
        default: false
        }
    }
}

/// The other examples of docs/tokens.md, which are held against it. They are compiled, not run.
enum LoginExamples {
    static func device(_ login: TokenLogin, _ database: SessionDatabase) async throws {
        let stored = try await login.runOnAnotherDevice(storingAs: "tv", in: database.tokens) { device in
            print("Open \(device.verificationURI) and enter \(device.userCode)")
        }
        print(stored.profile.name)
    }

    /// Where the app's own window is: that of Apple's systems is `WebAuthenticationBrowser`.
    struct Browser: Sendable {
        func open(_ url: URL) async throws -> URL { url }
    }

    static func ownScheme(_ browser: Browser, _ database: SessionDatabase) async throws {
        let login = TokenLogin(
            issuer: "https://id.example", clientID: "shop", scopes: ["openid", "offline_access"],
            redirect: .uri("shopapp:/cb"), transport: URLSessionEndpointTransport())
        let stored = try await login.run(storingAs: "work", in: database.tokens) { url in try await browser.open(url) }
        print(stored.profile.name)
    }
}
