import Foundation
import OAuth2
import OAuth2Login
import SessionStore
import Synchronization
import Testing

/// A login in one call, against a server in this process and with requests over the loopback interface.
@Suite("A login in one call")
struct TokenLoginTests {
    private let server = AuthorizationServer()
    private let store: TokenStore

    init() throws {
        store = try AuthorizationServer.emptyStore()
    }

    /// The error that a login ends with.
    private func failure<Opened: Sendable>(
        of login: TokenLogin, _ open: @escaping @Sendable (URL) async throws -> Opened
    ) async -> (any Error)? {
        do {
            _ = try await login.run(storingAs: "work", in: store, open: open)
            return nil
        } catch {
            return error
        }
    }

    /// The page that the browser shows in the end.
    private final class Page: Sendable {
        let text = Mutex("")
    }

    /// Where the page that a login opens leads to.
    private static func page(_ opening: URL) async throws -> String {
        let answer = try await LoopbackBrowser.get(opening.absoluteString)
        return try #require(answer.location)
    }

    @Test("A browser comes back to this machine, and its page says that the tokens are stored")
    func loopback() async throws {
        let shown = Page()
        let (server, login) = (server, server.login())
        let stored = try await login.run(storingAs: "work", in: store) { url in
            // Other users can read the arguments of the program that opens the browser.
            #expect(url.query() == nil && url.host() == "127.0.0.1")
            let redirect = server.logIn(at: try await TokenLoginTests.page(url))
            let answer = try await LoopbackBrowser.get(redirect)
            #expect(answer.status == "HTTP/1.1 200 OK")
            shown.text.withLock { $0 = answer.text }
        }
        #expect(shown.text.withLock { $0.contains("The app has the tokens") })
        #expect(
            stored.tokens.accessToken == Secret("access-1") && stored.profile.id.issuer == AuthorizationServer.issuer)
        #expect(try store.get("work").tokens.refreshToken == Secret("refresh-1"))
        // Everything that a refresh needs is stored, too.
        let renewed = try await login.refresher(of: store).refreshed("work")
        #expect(renewed.tokens.accessToken == Secret("access-2"))
    }

    @Test("A redirect with another state gets an error page, and the wait goes on")
    func otherState() async throws {
        let server = server
        let stored = try await server.login().run(storingAs: "work", in: store) { url in
            let page = try await TokenLoginTests.page(url)
            let foreign = try await LoopbackBrowser.get(server.logIn(at: page, state: "another"))
            #expect(foreign.status == "HTTP/1.1 400 Bad Request" && foreign.text.contains("Not this login"))
            _ = try await LoopbackBrowser.get(server.logIn(at: page))
        }
        #expect(stored.tokens.accessToken == Secret("access-1"))
    }

    @Test("A refusal of the server ends the login, on the page, too")
    func refusal() async throws {
        let shown = Page()
        let server = server
        let error = await failure(of: server.login()) { url in
            let redirect = server.logIn(at: try await TokenLoginTests.page(url), error: "access_denied")
            let answer = try await LoopbackBrowser.get(redirect)
            shown.text.withLock { $0 = answer.text }
        }
        #expect((error as? OAuth2Error)?.code == .accessDenied)
        #expect(shown.text.withLock { $0 }.contains("The login failed"))
        #expect(throws: SessionStoreError.self) { try store.get("work") }
    }

    @Test("An app that receives the redirect itself returns it")
    func ownScheme() async throws {
        let server = server
        let stored = try await server.login(.uri("shopapp:/cb")).run(storingAs: "work", in: store) { url in
            try #require(URL(string: server.logIn(at: url.absoluteString)))
        }
        #expect(stored.tokens.accessToken == Secret("access-1"))
        #expect(try store.credentials("work")?.settings.redirectURI == "shopapp:/cb")
    }

    @Test("A returned redirect with another state is refused, and no code is redeemed")
    func returnedState() async throws {
        let server = server
        let error = await failure(of: server.login(.uri("shopapp:/cb"))) { url in
            try #require(URL(string: server.logIn(at: url.absoluteString, state: "another")))
        }
        #expect((error as? OAuth2Error)?.code == .stateMismatch && !server.paths.contains("/token"))
    }

    private struct Closed: Error {}

    @Test("A browser that cannot be opened ends the wait")
    func noBrowser() async throws {
        #expect(await failure(of: server.login()) { _ in throw Closed() } is Closed)
        #expect(await failure(of: server.login(.uri("shopapp:/cb"))) { _ throws -> URL in throw Closed() } is Closed)
    }

    @Test("A login that is cancelled stops listening")
    func cancellation() async throws {
        let (opened, opening) = AsyncStream.makeStream(of: URL.self)
        let task = Task { [login = server.login(), store] in
            try await login.run(storingAs: "work", in: store) { url in
                opening.yield(url)
                opening.finish()
            }
        }
        var urls = opened.makeAsyncIterator()
        let url = try #require(await urls.next())
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: URLError.self) { try await LoopbackBrowser.get(url.absoluteString) }
    }

    /// Cancels the task that calls it.
    private static func cancel() {
        withUnsafeCurrentTask { $0?.cancel() }
    }

    @Test("Tokens that the server issues to a cancelled login are revoked")
    func cancelledRedemption() async throws {
        let task = Task { [server, login = server.login(.uri("shopapp:/cb")), store] in
            try await login.run(storingAs: "work", in: store) { url in
                TokenLoginTests.cancel()
                return try #require(URL(string: server.logIn(at: url.absoluteString)))
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.revoked == ["refresh-1", "access-1"])
        #expect(throws: SessionStoreError.self) { try store.get("work") }
    }

    @Test("Tokens that the server issues to a cancelled login on another device are revoked")
    func cancelledDevice() async throws {
        let task = Task { [login = server.login(), store] in
            try await login.runOnAnotherDevice(storingAs: "tv", in: store) { _ in TokenLoginTests.cancel() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.revoked == ["access-tv"])
        #expect(throws: SessionStoreError.self) { try store.get("tv") }
    }

    @Test("An error of what opens the browser does not count after the browser has come back")
    func lateFailure() async throws {
        let server = server
        let stored = try await server.login().run(storingAs: "work", in: store) { url in
            _ = try await LoopbackBrowser.get(server.logIn(at: try await TokenLoginTests.page(url)))
            throw Closed()
        }
        #expect(stored.tokens.accessToken == Secret("access-1") && server.revoked.isEmpty)
    }

    @Test("What opens the browser may end by itself after the browser has come back, and the login ends with it")
    func ownEnd() async throws {
        let (server, clock) = (server, EndlessClock())
        let stored = try await server.login(clock: clock).run(storingAs: "work", in: store) { url in
            _ = try await LoopbackBrowser.get(server.logIn(at: try await TokenLoginTests.page(url)))
            // The tokens are stored, and the login waits.
            for await _ in clock.begun { break }
            #expect(!Task.isCancelled)
        }
        #expect(stored.tokens.accessToken == Secret("access-1"))
    }

    @Test("What opens the browser may end by itself after a refusal")
    func ownEndOfRefusal() async throws {
        let (server, clock) = (server, EndlessClock())
        let error = await failure(of: server.login(clock: clock)) { url in
            let page = try await TokenLoginTests.page(url)
            _ = try await LoopbackBrowser.get(server.logIn(at: page, error: "access_denied"))
            for await _ in clock.begun { break }
            #expect(!Task.isCancelled)
        }
        #expect((error as? OAuth2Error)?.code == .accessDenied)
    }

    @Test("What opens the browser is cancelled if it does not end by itself")
    func cancelledOpening() async throws {
        let server = server
        let wasCancelled = Mutex(false)
        let stored = try await server.login().run(storingAs: "work", in: store) { url in
            _ = try await LoopbackBrowser.get(server.logIn(at: try await TokenLoginTests.page(url)))
            // It ends only when the task is cancelled.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            wasCancelled.withLock { $0 = Task.isCancelled }
        }
        #expect(stored.tokens.accessToken == Secret("access-1") && wasCancelled.withLock { $0 })
    }

    @Test("The user may take as long as a duration can tell")
    func patience() async throws {
        var login = server.login()
        login.timeout = .seconds(Int64.max)
        let server = server
        let stored = try await login.run(storingAs: "work", in: store) { url in
            _ = try await LoopbackBrowser.get(server.logIn(at: try await TokenLoginTests.page(url)))
        }
        #expect(stored.tokens.accessToken == Secret("access-1"))
    }

    @Test("A user who does not come back in time has to log in again")
    func timeout() async throws {
        var login = server.login()
        login.timeout = .zero
        let error = await failure(of: login) { _ in }
        #expect((error as? LoginError)?.code == .loginFailed)
    }

    @Test("A redirect that the app receives has to be returned, and nothing is asked before that is clear")
    func mismatch() async throws {
        let error = await failure(of: server.login(.uri("shopapp:/cb"))) { _ in }
        #expect((error as? LoginError)?.code == .settingsInvalid && server.paths.isEmpty)
    }

    @Test("A login on another device shows the code, and waits until it is confirmed")
    func device() async throws {
        var code: String?
        let stored = try await server.login().runOnAnotherDevice(storingAs: "tv", in: store) { code = $0.userCode }
        #expect(code == "AB-CD" && stored.tokens.accessToken == Secret("access-tv"))
        #expect(server.paths.filter { $0 == "/token" }.count == 2)
    }

    @Test("To log out revokes the tokens, the refresh token first, and removes the login")
    func logout() async throws {
        let outcome = try await server.logIn("work", in: store).logOut("work", from: store)
        #expect(outcome.revoked == [.refreshToken, .accessToken] && outcome.problem == nil)
        #expect(server.revoked == ["refresh-1", "access-1"])
        #expect(throws: SessionStoreError.self) { try store.get("work") }
    }

    @Test("A login whose server is away stays, unless it is forced out")
    func unreachable() async throws {
        let login = try await server.logIn("work", in: store)
        server.disconnect()
        await #expect(throws: OAuth2Error.self) { try await login.logOut("work", from: store) }
        #expect(try store.get("work").tokens.accessToken == Secret("access-1"))
        let outcome = try await login.logOut("work", from: store, force: true)
        #expect(outcome.revoked.isEmpty && outcome.problem?.contains("the cable was cut") == true)
        #expect(throws: SessionStoreError.self) { try store.get("work") }
    }

    @Test("To revoke keeps the login, which has no valid tokens any more")
    func revocation() async throws {
        let login = try await server.logIn("work", in: store)
        #expect(try await login.revoke("work", of: store) == [.refreshToken, .accessToken])
        let kept = try store.get("work")
        #expect(kept.tokens.refreshToken == nil && kept.refusal != nil)
    }
}
