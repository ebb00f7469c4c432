// 8: what an app's tests need: a clock, a database in memory, a keychain that is locked, a server that answers as told.
import AppSupport
import CookieModel
import HTTPTypes
import OAuth2Login
import SessionStore
import Synchronization
import WebPrimitives

@main
struct AppTests {
    static func main() async throws {
        try await sessionsExpire()
        try keychainIsLocked()
        try await tokensAreRenewedOnce()
    }

    static func sessionsExpire() async throws {
        let time = ManualTime(Timestamp(seconds: 1_800_000_000))
        let jar = try await SessionDatabase.inMemory(clock: .manual(time)).jar()
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        try await jar.receive(ReceivedResponse(context: context, setCookie: ["sid=1; Max-Age=60"]))
        expect(try await jar.cookieString(for: context), "sid=1", "the session is there")
        time.advance(bySeconds: 61)
        expect(try await jar.cookieString(for: context), "", "the session has ended")
    }

    static func keychainIsLocked() throws {
        let keychain = Mutex<(bytes: [UInt8], isLocked: Bool)>((SealingKey().exposedBytes, false))
        let keys = KeySource(name: "the keychain") { _ throws(SessionStoreError) in
            guard !keychain.withLock(\.isLocked), let key = SealingKey(bytes: keychain.withLock(\.bytes)) else {
                throw SessionStoreError(code: .keyUnavailable, subject: "the keychain", reason: "it is locked")
            }
            return key
        }
        _ = try SessionDatabase(path: "app.sqlite", keys: keys)
        keychain.withLock { $0.isLocked = true }
        do {
            _ = try SessionDatabase(path: "app.sqlite", keys: keys).jar()
            expect(false, true, "a locked keychain is an error")
        } catch {
            expect("\(error)", "the keychain: it is locked", "the user reads why")
        }
    }

    static func tokensAreRenewedOnce() async throws {
        let time = ManualTime(Timestamp(seconds: 1_800_000_000))
        let store = try SessionDatabase.inMemory(clock: .manual(time)).tokens
        let server = StubServer()
        let login = TokenLogin(issuer: "https://id.example", clientID: "app", transport: server)
        let stored = try await login.runOnAnotherDevice(storingAs: "tv", in: store) { device in
            expect(device.userCode, "ABCD", "the user sees the code")
        }
        expect(stored.tokens.accessToken.exposedText, "first", "the device is signed in")
        time.advance(bySeconds: 3600)
        let refresher = login.refresher(of: store)
        let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 1...20 { group.addTask { try await refresher.token("tv").tokens.accessToken.exposedText } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        expect(tokens, ["second"], "everyone gets the new token")
        expect(server.requests.withLock(\.self).filter { $0.contains("refresh_token=r1") }.count, 1, "one refresh")
    }
}

/// An authorization server that answers from a table.
final class StubServer: EndpointTransport {
    let requests = Mutex<[String]>([])

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let body = String(decoding: request.exposedBody, as: UTF8.self)
        requests.withLock { $0.append(body) }
        let json: String =
            switch request.endpoint.path {
            case "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration":
                #"{"issuer": "https://id.example", "token_endpoint": "https://id.example/token", "#
                    + #""device_authorization_endpoint": "https://id.example/device"}"#
            case "/device":
                #"{"device_code": "d", "user_code": "ABCD", "verification_uri": "https://id.example/", "#
                    + #""expires_in": 60, "interval": 1}"#
            case _ where body.contains("grant_type=refresh_token"):
                #"{"access_token": "second", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r2"}"#
            default: #"{"access_token": "first", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r1"}"#
            }
        return EndpointResponse(
            status: .ok, fields: [.contentType: "application/json"], body: Array(json.utf8))
    }
}
