import OAuth2
import OAuth2Login
import Platform
import SessionStore
import Synchronization
import Testing

/// An app has calls and parameters. Only the command has options.
@Suite("Sentences of login errors")
struct LoginSentenceTests {
    /// A login that fails, and its sentence for each reader.
    struct Failure: Sendable {
        let app: String
        let command: String
        let login: @Sendable (LoginSentenceTests) async throws -> Void

        /// A failure whose sentences differ in their middle or at their end.
        init(
            _ start: String, app: String, command: String, _ end: String = "",
            _ login: @escaping @Sendable (LoginSentenceTests) async throws -> Void
        ) {
            self.app = start + app + end
            self.command = start + command + end
            self.login = login
        }

        /// A failure that only the command and the service meet.
        init(_ command: String, _ login: @escaping @Sendable (LoginSentenceTests) async throws -> Void) {
            self.init(command, app: "", command: "", "", login)
        }
    }

    private let server = AuthorizationServer()
    private let store: TokenStore

    init() throws {
        store = try AuthorizationServer.emptyStore()
    }

    /// Plans a login at a server whose endpoints are known.
    private func plan(
        _ name: String = "work", _ change: (inout TokenLoginRequest) -> Void
    ) async throws -> TokenLoginPlan {
        var request = TokenLoginRequest(name: name)
        request.issuer = AuthorizationServer.issuer
        request.endpoints = [
            .token: "https://id.test/token", .authorization: "https://id.test/login",
            .deviceAuthorization: "https://id.test/device_authorization", .registration: "https://id.test/register",
        ]
        request.clientID = "app"
        change(&request)
        return try await request.plan(store, over: server)
    }

    private func flow(
        _ plan: TokenLoginPlan, now: @escaping @Sendable () -> Timestamp = { AuthorizationServer.now }
    ) -> LoginFlow {
        LoginFlow(plan, over: server, checkingIDTokens: nil, now: now)
    }

    private static let tokens = TokenSet(accessToken: Secret("access-1"), receivedAt: AuthorizationServer.now)

    /// Stores the login of an account, which the server of these tests does not tell.
    private func logIn(as account: String) async throws {
        _ = try await flow(try await plan { $0.account = account }).keep(LoginSentenceTests.tokens, in: store)
    }

    private static let failures: [Failure] = [
        Failure("work: name the client by its identifier ", app: "(clientID)", command: "(--client-id)") {
            try await $0.server.logIn("work", by: "", in: $0.store)
        },
        Failure(
            "work: the login of the same server, client and account is stored as 'first'; ",
            app: "log in under that name", command: "name another account, as with --account"
        ) {
            try await $0.server.logIn("first", in: $0.store)
            try await $0.server.logIn("work", in: $0.store)
        },
        Failure(
            "work: this is the login of ann, and you logged in as bob; nothing was changed. Log in under another name, "
                + "or replace the login with ", app: "replacesAccount", command: "--replace-account"
        ) {
            try await $0.logIn(as: "ann")
            try await $0.logIn(as: "bob")
        },
        Failure(
            "work: the server's endpoints are unknown; log in",
            app: " again, or import the tokens again with the endpoints",
            command: " with 'crumb token login work', or import the tokens again with --discover, or with --endpoint "
                + "name=URL"
        ) {
            let id = ProfileID(issuer: AuthorizationServer.issuer, clientID: "app")
            try await $0.store.put(LoginSentenceTests.tokens, for: Profile(id: id, name: "work"))
            try await $0.server.login().revoke("work", of: $0.store)
        },
    ]

    @Test("An error names calls and parameters to an app, and options to the command", arguments: failures)
    func readers(failure: Failure) async throws {
        let error = try await #require(throws: LoginError.self) { try await failure.login(self) }
        #expect(error.description == failure.app && error.commandDescription == failure.command)
        #expect(!error.description.contains("--") && !error.description.contains("crumb"))
    }

    private static let commandFailures: [Failure] = [
        Failure("work: name the server by its issuer (--issuer) or its endpoints (--endpoint)") {
            _ = try await $0.plan {
                $0.issuer = nil
                $0.endpoints = [:]
            }
        },
        Failure("work: name the key that signs the assertion with --assertion-key-file") {
            _ = try await $0.plan { $0.grant = .jwtBearer }
        },
        Failure("work: name the login to exchange with --exchange") {
            _ = try await $0.plan { $0.grant = .tokenExchange }
        },
        Failure(
            "work: Crumb registers clients with a secret or without one; register one with a key or a certificate at the "
                + "server, and log in with --client-id"
        ) {
            _ = try await $0.plan {
                $0.clientID = nil
                $0.authenticationMethod = .privateKeyJWT
                $0.registration = TokenLoginRequest.Registration()
            }
        },
        Failure("the code was not confirmed within 5 seconds (--timeout); log in again") {
            // Ten seconds pass between any two looks at the clock.
            let looks = Mutex(Int64(0))
            let flow = $0.flow(try await $0.plan { $0.grant = .deviceCode }) {
                AuthorizationServer.now.advanced(
                    bySeconds: looks.withLock { looks in
                        looks += 1
                        return looks * 10
                    })
            }
            let device = try await flow.deviceAuthorization()
            _ = try await flow.tokens(confirmed: device, within: 5, clock: InstantClock())
        },
        Failure(
            "https://id.test/cb: crumb cannot listen at this URL; use http://127.0.0.1/path or http://[::1]/path, or "
                + "http://localhost/path if the server accepts nothing else"
        ) { _ in
            _ = try LoopbackRedirect("https://id.test/cb")
        },
    ]

    @Test("An error that no app can meet has one sentence, with the options", arguments: commandFailures)
    func command(failure: Failure) async throws {
        let error = try await #require(throws: LoginError.self) { try await failure.login(self) }
        #expect(error.description == failure.command && error.commandDescription == failure.command)
    }
}
