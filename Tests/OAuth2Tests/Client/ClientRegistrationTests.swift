import Foundation
import HTTPTypes
import Testing

@testable import OAuth2

/// RFC 7591: https://www.rfc-editor.org/rfc/rfc7591.html
@Suite("Registering clients")
struct ClientRegistrationTests {
    private func registration(
        _ grant: ProfileSettings.Grant, _ method: ProfileSettings.AuthenticationMethod = .none
    ) throws -> ClientRegistration {
        let settings = ProfileSettings(grant: grant, endpoints: [:], authenticationMethod: method, scopes: ["a", "b"])
        return ClientRegistration(
            endpoint: try Given.endpoint("/register"), redirectURI: "http://127.0.0.1/callback", settings: settings)
    }

    @Test(
        "The request names the grants of the client (section 2)",
        arguments: [
            (ProfileSettings.Grant.authorizationCode, ["authorization_code", "refresh_token"], ["code"], true),
            (.deviceCode, ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"], [], false),
            (.clientCredentials, ["client_credentials"], [], false),
            (.jwtBearer, ["urn:ietf:params:oauth:grant-type:jwt-bearer"], [], false),
            (.tokenExchange, ["urn:ietf:params:oauth:grant-type:token-exchange"], [], false),
        ])
    func request(
        grant: ProfileSettings.Grant, grantTypes: [String], responseTypes: [String], comesBack: Bool
    ) throws {
        let request = try registration(grant, .clientSecretBasic).request(with: Secret("initial-Tk5"))
        let head = request.exposedHead
        #expect(request.method == .post && head.headerFields[.contentType] == "application/json")
        #expect(head.headerFields[.authorization] == "Bearer initial-Tk5" && !shown(request).contains("initial-Tk5"))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(request.exposedBody)) as? [String: Any])
        #expect(object["grant_types"] as? [String] == grantTypes)
        #expect(object["response_types"] as? [String] == responseTypes)
        #expect(object["redirect_uris"] as? [String] == (comesBack ? ["http://127.0.0.1/callback"] : nil))
        #expect(object["token_endpoint_auth_method"] as? String == "client_secret_basic")
        #expect(object["scope"] as? String == "a b" && object["client_name"] as? String == "Crumb")
        #expect(try registration(grant).request(with: nil).exposedHead.headerFields[.authorization] == nil)
    }

    @Test(
        "The reply determines the client's authentication (section 3.2.1)",
        arguments: [
            (#"{"client_id":"c"}"#, "none", false),
            (#"{"client_id":"c","client_secret":"s"}"#, "none", true),
            (
                #"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
                "client_secret_post", true
            ),
            (#"{"client_id":"c","token_endpoint_auth_method":"client_secret_post"}"#, nil, false),
            (#"{"client_id":"c","token_endpoint_auth_method":"private_key_jwt"}"#, nil, false),
            (#"{"client_id":"c","token_endpoint_auth_method":"unheard_of"}"#, nil, false),
            (#"{"client_id":""}"#, nil, false), ("{}", nil, false), ("[]", nil, false),
        ] as [(String, String?, Bool)])
    func reply(body: String, method: String?, hasSecret: Bool) throws {
        let registration = try registration(.authorizationCode)
        let response = Given.response(body, status: .created)
        guard let method else {
            let error = thrown { () throws(OAuth2Error) in try registration.client(in: response) }
            #expect([.incompleteReply, .notAnObject].contains(error?.code))
            return
        }
        let client = try registration.client(in: response)
        #expect(client.clientID == "c" && client.authenticationMethod.rawValue == method)
        #expect((client.secret != nil) == hasSecret && client.accessToken == nil)
    }

    @Test("The registration's URL and token are stored, and an error does not repeat the initial access token")
    func management() throws {
        let registration = try registration(.authorizationCode)
        let body = #"""
            {"client_id":"c","registration_access_token":"rat-Zq8","id_token_signed_response_alg":"ES256",
             "registration_client_uri":"https://id.example/register/c"}
            """#
        let client = try registration.client(in: Given.response(body, status: .created))
        #expect(client.accessToken == Secret("rat-Zq8") && client.managementURL == "https://id.example/register/c")
        #expect(client.idTokenAlgorithm == "ES256" && !shown(client).contains("rat-Zq8"))
        let refusal = Given.response(
            #"{"error":"invalid_redirect_uri","error_description":"bad token initial-Tk5"}"#, status: .badRequest)
        let error = try #require(
            thrown { () throws(OAuth2Error) in try registration.client(in: refusal, with: Secret("initial-Tk5")) })
        #expect(error.serverCode == "invalid_redirect_uri" && !shown(error).contains("initial-Tk5"))
    }
}
