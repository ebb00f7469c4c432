import CookieModel
import HTTPTypes
import OAuth2
import OAuth2Login
import SessionStore
import Testing

/// How a client authenticates and where it goes, by what it has and what the server says of itself.
@Suite("The choice of a login's authentication method")
struct TokenLoginPlanTests {
    /// A server that answers with its metadata alone.
    private struct Server: EndpointTransport {
        let methods: [String]?

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            let list = methods.map { methods in
                #","token_endpoint_auth_methods_supported":["#
                    + methods.map { "\"\($0)\"" }.joined(separator: ",") + "]"
            }
            let body = #"""
                {"issuer":"https://id.test","token_endpoint":"https://id.test/token",
                 "revocation_endpoint":"https://id.test/revoke",
                 "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.id.test/token"}\#(list ?? "")}
                """#
            return EndpointResponse(status: .ok, body: Array(body.utf8))
        }
    }

    private static let certificate =
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"

    private func request(_ has: String) throws -> TokenLoginRequest {
        var request = TokenLoginRequest(name: "p")
        request.issuer = "https://id.test"
        request.clientID = "machine"
        request.grant = .clientCredentials
        if has.contains("secret") { request.clientSecret = Secret("client-s3cret") }
        if has.contains("certificate") {
            request.clientCertificate = try ClientCertificate(pem: Secret(TokenLoginPlanTests.certificate))
        }
        return request
    }

    @Test(
        "The server's metadata choose among the methods that the client can use",
        arguments: [
            ("secret", nil, "client_secret_basic"),
            ("secret", ["client_secret_post", "client_secret_basic"], "client_secret_basic"),
            ("secret", ["client_secret_jwt", "client_secret_post"], "client_secret_post"),
            ("secret", ["client_secret_jwt", "private_key_jwt"], "client_secret_jwt"),
            ("secret", ["private_key_jwt"], "client_secret_basic"),
            ("certificate", nil, "tls_client_auth"),
            ("certificate", ["self_signed_tls_client_auth"], "self_signed_tls_client_auth"),
            ("certificate", ["self_signed_tls_client_auth", "tls_client_auth"], "tls_client_auth"),
            ("certificate", ["private_key_jwt"], "none"),
            ("certificate and secret", ["client_secret_jwt", "tls_client_auth"], "client_secret_jwt"),
            ("nothing", ["client_secret_jwt", "tls_client_auth"], "none"),
        ] as [(String, [String]?, String)])
    func method(has: String, methods: [String]?, expected: String) async throws {
        let store = try ServiceFixture().database.tokens
        let plan = try await request(has).plan(store, over: Server(methods: methods))
        #expect(plan.credentials.settings.authenticationMethod.rawValue == expected)
        #expect((plan.credentials.clientCertificate != nil) == has.contains("certificate"))
    }

    @Test(
        "A client with a certificate uses the server's mTLS aliases, unless it names an endpoint",
        arguments: [true, false])
    func aliases(namesEndpoint: Bool) async throws {
        let store = try ServiceFixture().database.tokens
        var request = try request("certificate")
        let transport = Server(methods: nil)
        if namesEndpoint { request.endpoints = [.revocation: "https://named.test/revoke"] }
        let plan = try await request.plan(store, over: transport)
        let endpoints = plan.credentials.settings.endpoints
        #expect(endpoints[.token] == "https://mtls.id.test/token")
        #expect(endpoints[.revocation] == (namesEndpoint ? "https://named.test/revoke" : "https://id.test/revoke"))
        let without = try await self.request("secret").plan(store, over: transport)
        #expect(without.credentials.settings.endpoints[.token] == "https://id.test/token")
        // The certificate is kept, and goes along at the next login, which says nothing of it.
        let tokens = TokenSet(accessToken: Secret("t"), receivedAt: ServiceFixture.now)
        try store.put(
            tokens, for: Profile(id: plan.profile, name: "p"), credentials: plan.credentials, now: ServiceFixture.now)
        let again = try await TokenLoginRequest(name: "p").plan(store, over: transport)
        #expect(again.credentials == plan.credentials && again.credentials.clientCertificate != nil)
    }

    @Test("An authentication method that needs a certificate is rejected without one")
    func missing() async throws {
        let store = try ServiceFixture().database.tokens
        var request = try request("secret")
        request.authenticationMethod = .tlsClientAuth
        let error = await #expect(throws: LoginError.self) {
            try await request.plan(store, over: Server(methods: nil))
        }
        #expect(error?.code.rawValue == "token-settings-missing" && error?.description.contains("certificate") == true)
    }
}
