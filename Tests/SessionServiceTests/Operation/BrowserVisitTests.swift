import CookieModel
import Foundation
import OAuth2
import OAuth2Login
import SessionOperations
import SessionStore
import Testing

/// What is stored of a login that waits for its browser.
@Suite("A stored login in a browser")
struct BrowserVisitTests {
    private struct NoServer: EndpointTransport {
        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            throw OAuth2Error(unreachable: "no server")
        }
    }

    /// The login of a request whose server needs no question.
    private func visit(_ change: (inout TokenLoginRequest) -> Void) async throws -> BrowserVisit {
        var request = TokenLoginRequest(name: "new")
        request.endpoints = [.token: "https://id.test/token", .authorization: "https://id.test/login"]
        request.clientID = "app"
        change(&request)
        return BrowserVisit(
            plan: try await request.plan(try ServiceFixture().database.tokens, over: NoServer()),
            attempt: AuthorizationAttempt(
                state: Secret("the-state"), codeVerifier: Secret("the-verifier"), nonce: Secret("the-nonce")),
            redirectURI: "http://127.0.0.1/back")
    }

    private func stored(_ visit: BrowserVisit) throws -> BrowserVisit {
        let data = try JSONEncoder().encode(ExposedBrowserVisit(visit))
        return try JSONDecoder().decode(ExposedBrowserVisit.self, from: data).visit
    }

    private func expectSame(_ one: BrowserVisit, _ other: BrowserVisit) {
        #expect(one.attempt.state == other.attempt.state && one.attempt.codeVerifier == other.attempt.codeVerifier)
        #expect(one.attempt.nonce == other.attempt.nonce && one.redirectURI == other.redirectURI)
        let (plan, same) = (one.plan, other.plan)
        #expect(plan.name == same.name && plan.profile == same.profile && plan.credentials == same.credentials)
        #expect(plan.metadata.issuer == same.metadata.issuer)
        #expect(plan.metadata.sendsIssuer == same.metadata.sendsIssuer)
        #expect(plan.hasAccount == same.hasAccount && plan.user == same.user)
        #expect(plan.replacesAccount == same.replacesAccount && plan.pushes == same.pushes)
        #expect(plan.parameters.map(\.name) == same.parameters.map(\.name))
        #expect(plan.parameters.map(\.value) == same.parameters.map(\.value))
    }

    @Test("A login in a browser has every setting and secret of its client")
    func complete() async throws {
        let secrets = try await visit { request in
            request.clientSecret = Secret("client-secret")
            request.bindsTokens = true
            request.scope = "openid offline_access"
            request.resources = ["https://a.test", "https://b.test"]
            request.account = "me"
            request.replacesAccount = true
            request.redirectURI = "app.test:/back"
            request.parameters = [(name: "prompt", value: "login"), (name: "max_age", value: "60"), ("empty", "")]
            request.idTokenAlgorithm = "ES256"
        }
        #expect(secrets.plan.credentials.proofKey != nil && secrets.plan.parameters.count == 3)
        expectSame(secrets, try stored(secrets))
        let pem =
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
            + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        let certificate = try ClientCertificate(pem: Secret(pem))
        let certified = try await visit { request in
            request.clientCertificate = certificate
            request.pushes = true
            request.endpoints[.pushedAuthorization] = "https://id.test/push"
        }
        #expect(certified.plan.pushes && certified.plan.credentials.clientCertificate != nil)
        expectSame(certified, try stored(certified))
        let plain = try await visit { _ in }
        expectSame(plain, try stored(plain))
    }

    @Test("A login in a browser has the account of the last login, and the server's metadata")
    func continued() async throws {
        let fixture = try ServiceFixture()
        let tokens = try fixture.database.tokens.get("work")
        var credentials = try #require(try fixture.database.tokens.credentials("work"))
        credentials.settings.serverSendsIssuer = true
        credentials.registrationToken = Secret("registration")
        try fixture.database.tokens.put(
            tokens.tokens, for: tokens.profile, credentials: credentials, now: ServiceFixture.now)
        let plan = try await TokenLoginRequest(name: "work").plan(fixture.database.tokens, over: NoServer())
        let attempt = AuthorizationAttempt(state: Secret("s"), codeVerifier: Secret("v"), nonce: Secret("n"))
        let again = BrowserVisit(plan: plan, attempt: attempt, redirectURI: "http://127.0.0.1/")
        #expect(plan.user?.subject == "me" && plan.metadata.sendsIssuer)
        #expect(plan.metadata.issuer == "https://id.test" && plan.credentials.registrationToken != nil)
        expectSame(again, try stored(again))
    }

    @Test("A login in a browser has the settings of every grant", arguments: ProfileSettings.Grant.allCases)
    func grants(grant: ProfileSettings.Grant) async throws {
        let keys = SigningKey().secret
        let login = try await visit { request in
            request.grant = grant == .imported ? nil : grant
            request.endpoints[.deviceAuthorization] = "https://id.test/device"
            request.assertionKey = keys
            request.assertion = ProfileSettings.Assertion(
                issuer: "i", subject: "me", audience: "https://id.test", keyID: "k")
            request.exchange = ProfileSettings.Exchange(subject: "work", actor: nil, audiences: ["api"])
        }
        if grant == .jwtBearer { #expect(login.plan.credentials.grantKey == keys) }
        if grant == .tokenExchange { #expect(login.plan.credentials.settings.exchange?.audiences == ["api"]) }
        expectSame(login, try stored(login))
    }
}
