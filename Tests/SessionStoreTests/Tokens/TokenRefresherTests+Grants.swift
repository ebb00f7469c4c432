import CookieModel
import HTTPTypes
import OAuth2
import Synchronization
import Testing

@testable import SessionStore

/// Tokens that come from another login, or that several resources share.
extension TokenRefresherTests {
    @Test("An exchanged token is renewed by another exchange, after the login that it comes from")
    func exchange() async throws {
        let store = try given()
        func exchange(_ name: String, of subject: String, actor: String? = nil) throws {
            var settings = ProfileSettings(grant: .tokenExchange, endpoints: [.token: "https://id.example/token"])
            settings.exchange = ProfileSettings.Exchange(subject: subject, actor: actor, audiences: ["api"])
            let tokens = TokenSet(
                accessToken: Secret("old"), receivedAt: .epoch, accessTokenExpiry: Given.now)
            let id = ProfileID(issuer: "https://id.example", clientID: "app", account: "for \(name)")
            try store.put(
                tokens, for: Profile(id: id, name: name), credentials: ProfileCredentials(settings: settings),
                now: Given.now)
        }
        try exchange("api", of: "p")
        #expect(try await refresher(store).token("api").tokens.accessToken == Secret("cc-2"))
        let requests = server.state.withLock { $0.requests }
        #expect(requests.count == 2 && requests[0].contains("refresh_token=refresh-0"))
        #expect(requests[1].contains("subject_token=access-1&") && requests[1].contains("audience=api"))
        #expect(try store.get("p").tokens.accessToken == Secret("access-1"))
        // The login that it comes from is not asked for again while it is valid.
        #expect(try await refresher(store).refreshed("api").tokens.accessToken == Secret("cc-3"))
        #expect(server.state.withLock { $0.requests.last }?.contains("subject_token=access-1&") == true)
        // Neither a loop of exchanges nor a login that is gone is waited for.
        try exchange("a", of: "b")
        try exchange("b", of: "api", actor: "a")
        #expect(await code(refresher(store), "a") == .nameInvalid)
        #expect(await code(refresher(store), "b") == .nameInvalid)
        try exchange("c", of: "nowhere")
        #expect(await code(refresher(store), "c") == .tokenNotFound)
        #expect(server.requestCount == 3)
    }

    private func code(_ refresher: TokenRefresher, _ name: String) async -> SessionStoreError.Code? {
        do {
            _ = try await refresher.token(name)
            return nil
        } catch {
            return (error as? SessionStoreError)?.code
        }
    }

    @Test("An exchange that uses ever more logins is rejected after 16 of them", arguments: [16, 17])
    func longChain(length: Int) throws {
        let store = try given()
        for number in 1...length {
            var settings = ProfileSettings(grant: .tokenExchange, endpoints: [:])
            settings.exchange = ProfileSettings.Exchange(subject: number == 1 ? "p" : "p\(number - 1)")
            try store.put(
                TokenSet(accessToken: Secret("t"), receivedAt: .epoch),
                for: Profile(id: ProfileID(clientID: "c\(number)"), name: "p\(number)"),
                credentials: ProfileCredentials(settings: settings), now: Given.now)
        }
        let settings = try #require(try store.credentials("p\(length)")).settings
        let error = errorCode { try store.checkExchange(settings, of: "p\(length)") }
        #expect(error == (length > 16 ? .nameInvalid : nil))
    }

    @Test("Each resource has its own token, and all come from one chain of refresh tokens")
    func resources() async throws {
        let store = try given(left: 3600)
        let refresher = refresher(store)
        let (first, second) = ("https://a.example/", "api://b")
        #expect(try await refresher.token("p", for: first).tokens.accessToken == Secret("access-1"))
        #expect(try await refresher.token("p", for: second).tokens.accessToken == Secret("access-2"))
        // They are kept, and the login's own token is as it was.
        #expect(try await refresher.token("p", for: first).tokens.accessToken == Secret("access-1"))
        #expect(try store.get("p").tokens.accessToken == Secret("access-0"))
        #expect(try store.get("p").tokens.refreshToken == Secret("refresh-2"))
        #expect(try store.credential("p", for: second).tokens.accessToken == Secret("access-2"))
        let requests = server.state.withLock { $0.requests }
        #expect(requests.count == 2 && requests[0].contains("&resource=https%3A%2F%2Fa.example%2F&"))
        #expect(requests[1].contains("refresh_token=refresh-1&resource=api%3A%2F%2Fb&"))
        #expect(try causes(store) == ["stored", "rotated", "refreshed", "rotated", "refreshed"])
        // The login's own refresh keeps them; a new login does not.
        #expect(try await refresher.refreshed("p").tokens.accessToken == Secret("access-3"))
        #expect(try store.get("p", for: first).tokens.accessToken == Secret("access-1"))
        let sealed = try store.database.text("SELECT resource_tokens FROM token_profile")
        #expect(!sealed.isEmpty && !sealed.contains("access-"))
        let stored = try store.get("p")
        try store.put(stored.tokens, for: stored.profile, now: Given.now)
        #expect(try store.get("p", for: first).tokens.accessToken.isEmpty)
    }

    @Test("Refreshers in many processes that want different resources use each refresh token once")
    func resourcesAtOnce() async throws {
        try given(left: 3600)
        let stores = try (0..<12).map { _ in try store() }
        let tokens = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
            for (index, store) in stores.enumerated() {
                let refresher = refresher(store)
                let resource = "https://r\(index % 3).example"
                group.addTask {
                    (index % 3, try await refresher.token("p", for: resource).tokens.accessToken.exposedText)
                }
            }
            return try await group.reduce(into: [:] as [Int: Set<String?>]) { $0[$1.0, default: []].insert($1.1) }
        }
        #expect(server.requestCount == 3 && server.state.withLock { $0.isAlive })
        #expect(tokens.count == 3 && tokens.values.allSatisfy { $0.count == 1 })
    }

    @Test("A rejection of one resource loses nothing, and an invalid resource is not requested")
    func refusedResource() async throws {
        let store = try given(left: 3600)
        server.state.withLock {
            $0.faults = [(RotatingServer.reply(#"{"error":"invalid_target"}"#, .badRequest), false)]
        }
        let error = await #expect(throws: OAuth2Error.self) {
            try await refresher(store).token("p", for: "https://other.example")
        }
        #expect(error?.serverCode == "invalid_target" && server.requestCount == 1)
        #expect(try store.get("p").refusal == nil && store.lease("p", now: Given.now) == nil)
        for resource in ["", "api", "https://a/#b", "https://a b", ":x", "1:x", "h\u{e4}:x"] {
            let error = await #expect(throws: OAuth2Error.self) { try await refresher(store).token("p", for: resource) }
            #expect(error?.code == .invalidEndpoint, "\(resource)")
        }
        #expect(server.requestCount == 1)
        #expect(try await refresher(store).token("p", for: "https://a").tokens.accessToken == Secret("access-1"))
        try store.database.execute("UPDATE token_profile SET resource_tokens = access_token")
        #expect(errorCode { try store.get("p", for: "https://a") } == .valueDamaged)
        #expect(try store.get("p").tokens.accessToken == Secret("access-0"))
    }

    @Test("A login stores at most 64 resources, and drops the one that expires first")
    func manyResources() throws {
        var tokens = try #require(ResourceTokens(nil))
        for number in 0..<200 {
            let token = TokenSet(
                accessToken: Secret("t\(number)"), receivedAt: .epoch,
                accessTokenExpiry: Timestamp(microseconds: Int64(1000 - number)))
            tokens.put(token, for: "r\(number)")
        }
        let stored = try #require(ResourceTokens(try tokens.stored()))
        let none = TokenSet(accessToken: Secret("own"), receivedAt: .epoch)
        let kept = (0..<200).filter { !stored.tokens(none, for: "r\($0)").accessToken.isEmpty }
        #expect(kept == Array(0..<63) + [199])
    }
}
