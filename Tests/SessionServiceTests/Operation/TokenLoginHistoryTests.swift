import CookieModel
import OAuth2
import OAuth2Login
import SessionStore
import Testing

/// What a login goes by: what it says itself, and what was said before.
@Suite("Values that a login takes from earlier ones")
struct TokenLoginHistoryTests {
    /// Nobody is asked where all endpoints are known.
    private struct Nobody: EndpointTransport {
        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            throw OAuth2Error(unreachable: "nobody is there")
        }
    }

    private let store: TokenStore

    init() throws {
        store = try ServiceFixture().database.tokens
    }

    private func request(
        _ name: String = "mine", account: String? = nil, scope: String? = nil, isNew: Bool = true,
        parameters: KeyValuePairs<String, String> = [:]
    ) -> TokenLoginRequest {
        var request = TokenLoginRequest(name: name)
        if isNew {
            request.endpoints = [.token: "https://id.test/token", .authorization: "https://id.test/login"]
            request.clientID = "app"
        }
        request.account = account
        request.scope = scope
        request.parameters = parameters.map { (name: $0.key, value: $0.value) }
        return request
    }

    /// A login that came to tokens.
    private func logIn(_ request: TokenLoginRequest) async throws -> [String] {
        let plan = try await request.plan(store, over: Nobody())
        let tokens = TokenSet(accessToken: Secret("access-1"), receivedAt: ServiceFixture.now)
        _ = try await LoginFlow(plan, over: Nobody(), checkingIDTokens: nil, now: { ServiceFixture.now })
            .keep(tokens, in: store)
        return plan.parameters.map { "\($0.name)=\($0.value)" }
    }

    @Test("A site's requirements for one login are added to earlier values, and do not apply to the next")
    func stepUp() async throws {
        let first = request(parameters: ["audience": "https://api.test/", "prompt": "consent"])
        #expect(try await logIn(first) == ["audience=https://api.test/", "prompt=consent"])
        let stepUp = request(isNew: false, parameters: ["acr_values": "gold", "max_age": "5", "prompt": "login"])
        #expect(
            try await logIn(stepUp)
                == ["audience=https://api.test/", "acr_values=gold", "max_age=5", "prompt=login"])
        #expect(try await logIn(request(isNew: false)) == ["audience=https://api.test/", "prompt=login"])
    }

    @Test("A login at another server takes over no earlier values")
    func otherServer() async throws {
        _ = try await logIn(request(parameters: ["audience": "https://api.test/"]))
        var other = request()
        other.endpoints[.token] = "https://other.test/token"
        #expect(try await logIn(other).isEmpty)
    }

    @Test("A second name for an account is rejected before the login, unless only an ID token can show it")
    func accounts() async throws {
        _ = try await logIn(request("one"))
        let error = await #expect(throws: LoginError.self) { try await request("two").plan(store, over: Nobody()) }
        #expect(error?.code.rawValue == "name-invalid" && error?.commandDescription.contains("--account") == true)
        #expect(error?.description.contains("'one'") == true)
        _ = try await request("two", scope: "openid").plan(store, over: Nobody())
        #expect(try await logIn(request("two", account: "me")).isEmpty)
        // Its own name is no other's, and nor is another client's.
        _ = try await logIn(request("one"))
        var client = request("three")
        client.clientID = "other"
        _ = try await logIn(client)
    }
}
