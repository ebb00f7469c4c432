import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import OAuth2Login
import SessionOperations
import SessionStore
import Synchronization
import Testing

/// What is kept of a login, under which account, and what becomes of tokens that are not kept.
@Suite("Outcomes of a login")
struct LoginOutcomeTests {
    /// A server that gives each login the tokens that a test says, and notes which were revoked.
    private final class Server: EndpointTransport {
        let idToken = Mutex<String?>(nil)
        let revoked = Mutex<[String]>([])
        /// Whose tokens the next ones are that it is asked about; `nil` for none that it knows.
        let subjects = Mutex<[String?]>([])

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            guard request.endpoint.path != "/introspect" else {
                let subject = subjects.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                let body = subject.map { #"{"active":true,"sub":"\#($0)"}"# } ?? #"{"active":false}"#
                return EndpointResponse(status: .ok, body: Array(body.utf8))
            }
            guard request.endpoint.path == "/token" else {
                let form = String(decoding: request.exposedBody, as: UTF8.self)
                revoked.withLock { revoked in
                    revoked += form.split(separator: "&").filter { $0.hasPrefix("token=") }.map(String.init)
                }
                return EndpointResponse(status: .ok, body: [])
            }
            let idToken = idToken.withLock { $0.map { #","id_token":"\#($0)""# } ?? "" }
            let body = #"{"access_token":"access-1","refresh_token":"refresh-1"\#(idToken)}"#
            return EndpointResponse(status: .ok, body: Array(body.utf8))
        }
    }

    private static let endpoints: [ServerMetadata.Endpoint: String] = [
        .token: "https://id.test/token", .authorization: "https://id.test/login", .revocation: "https://id.test/revoke",
    ]

    private let server = Server()
    private let store: TokenStore

    init() throws {
        store = try ServiceFixture().database.tokens
        // The fixture's token is of the same client.
        _ = try store.remove("work", now: ServiceFixture.now)
    }

    /// An ID token with the signature that a test says.
    private func idToken(
        _ subject: String, algorithm: String = "RS256", name: String? = nil, signature: String = "c2ln"
    ) -> String {
        let email = name.map { #","email":"\#($0)""# } ?? ""
        let parts = [
            #"{"alg":"\#(algorithm)"}"#,
            #"{"iss":"https://id.test","sub":"\#(subject)","aud":"app","exp":1900000000\#(email)}"#,
        ]
        return parts.map { part in
            Data(part.utf8).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }.joined(separator: ".") + "." + signature
    }

    /// A login in a browser, and what is kept of it.
    private func logIn(
        _ name: String = "mine", _ change: (inout TokenLoginRequest) -> Void = { _ in },
        replacing mayReplace: (AccountChange) -> Bool = { _ in false }
    ) async throws -> StoredToken {
        var request = TokenLoginRequest(name: name)
        request.issuer = "https://id.test"
        request.endpoints = Self.endpoints
        request.clientID = "app"
        change(&request)
        let plan = try await request.plan(store, over: server)
        let flow = LoginFlow(
            plan, over: server, checkingIDTokens: nil, now: { ServiceFixture.now })
        let attempt = AuthorizationAttempt(state: Secret("s"), codeVerifier: Secret("v"), nonce: Secret("n"))
        let tokens = try await flow.tokens(
            redirectedTo: "/?code=c&state=s", of: attempt, comingBackTo: "http://127.0.0.1/")
        return try await flow.keep(tokens, in: store, replacing: mayReplace)
    }

    private var revoked: [String] { server.revoked.withLock { $0 } }

    @Test(
        "An ID token that chooses its own algorithm is rejected, and its tokens are revoked",
        arguments: [
            ("HS256", "c2ln", false), ("HS256", "", false), ("HS512", "c2ln", false), ("none", "", false),
            ("HS256", "7FqEVtweSgoWlEKGstKQcolEWD2xnzormd6Tn8HMNoI", true), ("RS256", "c2ln", true),
        ])
    func algorithm(name: String, signature: String, isRegistered: Bool) async throws {
        server.idToken.withLock { $0 = idToken("me", algorithm: name, signature: signature) }
        for registers in [false, true] {
            let isTaken = isRegistered && (registers || name == "RS256")
            server.revoked.withLock { $0 = [] }
            let login = Task { [self] in
                try await logIn("mine") { request in
                    request.clientSecret = Secret("client-secret")
                    if registers { request.idTokenAlgorithm = name }
                }
            }
            switch await login.result {
            case .success(let stored): #expect(isTaken && stored.profile.id.account == "me" && revoked.isEmpty)
            case .failure(let error):
                #expect(!isTaken && (error as? OAuth2Error)?.code == .invalidIDToken, "\(error)")
                #expect(revoked == ["token=refresh-1", "token=access-1"])
                #expect(throws: SessionStoreError.self) { try store.get("mine") }
            }
        }
    }

    @Test("The account of a login is remembered for the next login, however it is requested")
    func account() async throws {
        server.idToken.withLock { $0 = idToken("me") }
        _ = try await logIn("first")
        #expect(try await logIn("second") { $0.account = "work" }.profile.id.account == "work")
        for _ in 0..<2 {
            #expect(try await logIn("second").profile.id.account == "work")
            let short: (inout TokenLoginRequest) -> Void = { request in
                request.issuer = nil
                request.endpoints = [:]
                request.clientID = nil
            }
            #expect(try await logIn("second", short).profile.id.account == "work")
            #expect(try await logIn("first").profile.id.account == "me")
        }
        #expect(revoked.isEmpty)
    }

    @Test("Tokens that cannot be stored are revoked, because the account already has a name")
    func duplicate() async throws {
        server.idToken.withLock { $0 = idToken("me") }
        _ = try await logIn("first")
        await #expect(throws: SessionStoreError.self) { try await logIn("second") }
        #expect(revoked == ["token=refresh-1", "token=access-1"])
        #expect(try store.get("first").tokens.refreshToken == Secret("refresh-1"))
    }

    @Test(
        "Tokens that cannot be stored are not revoked if a stored login belongs to the same user",
        arguments: [
            (["1", "1"], 0), (["1", "2"], 2), ([nil, "1"], 2), (["1", nil], 2), ([nil, nil], 2), (["1", "2", "1"], 0),
        ] as [([String?], Int)])
    func sameGrant(subjects: [String?], revocations: Int) async throws {
        let knowing: (inout TokenLoginRequest) -> Void = { request in
            request.endpoints[.introspection] = "https://id.test/introspect"
        }
        if subjects.count > 2 {
            server.idToken.withLock { $0 = idToken("you") }
            _ = try await logIn("another", knowing)
        }
        server.idToken.withLock { $0 = idToken("me") }
        _ = try await logIn("first", knowing)
        server.subjects.withLock { $0 = subjects }
        await #expect(throws: SessionStoreError.self) { try await logIn("second", knowing) }
        #expect(revoked.count == revocations)
        // Another client's logins are not compared: nothing is left to ask.
        #expect(server.subjects.withLock { $0.isEmpty } == (subjects[0] != nil))
    }

    @Test("One account replaces another under its name only on request")
    func otherAccount() async throws {
        server.idToken.withLock { $0 = idToken("1", name: "ann@id.test") }
        _ = try await logIn()
        server.idToken.withLock { $0 = idToken("2", name: "bob@id.test") }
        let error = await #expect(throws: LoginError.self) { try await logIn() }
        let description = try #require(error?.commandDescription)
        #expect(error?.code.rawValue == "name-invalid" && description.contains("--replace-account"))
        #expect(description.contains("ann@id.test") && description.contains("bob@id.test"))
        let kept = StoredTokenReport(try store.get("mine"), now: ServiceFixture.now)
        #expect(revoked.count == 2 && kept.user == "ann@id.test")
        // The user is asked, or has said so.
        let stored = try await logIn("mine", replacing: { $0.before.name == "ann@id.test" })
        #expect(stored.profile.id.account == "2")
        server.idToken.withLock { $0 = idToken("1") }
        #expect(try await logIn("mine", { $0.replacesAccount = true }).profile.id.account == "1")
        // Another client's login is another one, and without an ID token the accounts count that were named.
        server.idToken.withLock { $0 = nil }
        _ = try await logIn("mine") { request in
            request.clientID = "other"
            request.account = "x"
        }
        await #expect(throws: LoginError.self) {
            try await logIn("mine") { request in
                request.clientID = "other"
                request.account = "y"
            }
        }
        #expect(revoked.count == 4)
    }

    @Test(
        "Consent is asked for where OpenID Connect asks for it: with offline_access",
        arguments: [
            ("openid offline_access", [:], true, ["prompt=consent"]), ("openid", [:], true, []),
            ("offline_access", [:], true, []), ("openid offline_access", [:], false, []),
            ("openid offline_access", ["prompt": "login"], true, ["prompt=login"]),
            ("openid offline_access", ["prompt": ""], true, []),
        ] as [(String, [String: String], Bool, [String])])
    func consent(scope: String, said: [String: String], asks: Bool, expected: [String]) async throws {
        var request = TokenLoginRequest(name: "mine")
        request.issuer = "https://id.test"
        request.endpoints = Self.endpoints.merging([.keys: "https://id.test/keys"]) { $1 }
        request.clientID = "app"
        request.scope = scope
        request.asksForConsent = asks
        request.parameters = said.map { (name: $0.key, value: $0.value) }
        let plan = try await request.plan(store, over: server)
        #expect(plan.parameters.map { "\($0.name)=\($0.value)" } == expected)
        #expect(ProviderPreset.hasRules(for: "okta", issuer: nil))
        #expect(ProviderPreset.hasRules(for: nil, issuer: "https://login.microsoftonline.com/common/v2.0"))
        #expect(!ProviderPreset.hasRules(for: nil, issuer: "https://id.example"))
    }
}
