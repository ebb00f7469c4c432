import HTTPTypes
import Testing

@testable import OAuth2

@Suite("MetadataDiscovery")
struct MetadataDiscoveryTests {
    @Test(
        "Asks where RFC 8414 and OpenID Connect have it",
        arguments: [
            (
                "https://id.example", "https://id.example/.well-known/oauth-authorization-server",
                "https://id.example/.well-known/openid-configuration"
            ),
            (
                "https://id.example/", "https://id.example/.well-known/oauth-authorization-server",
                "https://id.example/.well-known/openid-configuration"
            ),
            (
                "https://id.example:8443/realms/one",
                "https://id.example:8443/.well-known/oauth-authorization-server/realms/one",
                "https://id.example:8443/realms/one/.well-known/openid-configuration"
            ),
        ])
    func urls(_ issuer: String, _ server: String, _ provider: String) throws {
        let discovery = try MetadataDiscovery(issuer: issuer)
        let first = try discovery.request(for: .authorizationServer)
        #expect(first.endpoint.description == server && first.exposedHead.method == .get)
        #expect(first.exposedHead.headerFields[.accept] == "application/json" && first.exposedBody.isEmpty)
        #expect(try discovery.request(for: .openIDProvider).endpoint.description == provider)
    }

    @Test(
        "An issuer is a safe URL without a query",
        arguments: ["http://id.example", "id.example", "https://id.example?x=1", "https://u@id.example", ""])
    func issuers(_ issuer: String) {
        #expect(thrown { () throws(OAuth2Error) in try MetadataDiscovery(issuer: issuer) } != nil)
    }

    @Test(
        "The document must be of the very issuer",
        arguments: [
            #"{"issuer":"https://id.example/"}"#, #"{"issuer":"https://ID.example"}"#, #"{"issuer":"https://evil"}"#,
            "{}", #"{"issuer":7}"#, #"{"issuer":""}"#,
        ])
    func mismatch(_ body: String) throws {
        let discovery = try MetadataDiscovery(issuer: "https://id.example")
        let error = thrown { () throws(OAuth2Error) in try discovery.metadata(in: Given.response(body)) }
        #expect(error?.code == .issuerMismatch)
        #expect(error?.description.contains(",,") == false)
    }

    @Test("A server of another issuer ends the search: no second document is asked for")
    func mixedUp() async throws {
        let transport = ScriptedTransport { _ throws(OAuth2Error) in Given.response(#"{"issuer":"https://evil"}"#) }
        let discovery = try MetadataDiscovery(issuer: "https://id.example")
        await #expect { try await discovery.metadata(over: transport) } throws: {
            ($0 as? OAuth2Error)?.code == .issuerMismatch
        }
        #expect(await transport.requests.count == 1)
    }

    @Test("A document that is missing, or lacks required members, is completed by the other")
    func completed() async throws {
        let transport = ScriptedTransport { request throws(OAuth2Error) in
            request.endpoint.path.contains("oauth-authorization-server")
                ? Given.response(#"{"issuer":"https://id.example","token_endpoint":"https://id.example/t"}"#)
                : Given.response(
                    #"{"issuer":"https://id.example","token_endpoint":"https://id.example/other","#
                        + #""revocation_endpoint":"https://id.example/r"}"#)
        }
        let discovery = try MetadataDiscovery(issuer: "https://id.example")
        let one = try await discovery.metadata(over: transport, needing: [.token])
        #expect(one.endpoints == [.token: "https://id.example/t"])
        #expect(await transport.requests.count == 1)
        let both = try await discovery.metadata(over: transport, needing: [.token, .revocation])
        #expect(both.endpoints == [.token: "https://id.example/t", .revocation: "https://id.example/r"])
        let error = thrown { () throws(OAuth2Error) in try both.url(of: .introspection) }
        #expect(error?.code == .endpointMissing && error?.commandDescription.contains("introspection_endpoint") == true)
    }

    @Test("The document of an issuer with a path is found at each place of RFC 8414", arguments: [0, 1, 2])
    func paths(place: Int) async throws {
        let places = [
            "/.well-known/oauth-authorization-server/t1", "/t1/.well-known/openid-configuration",
            "/.well-known/openid-configuration/t1",
        ]
        let transport = ScriptedTransport { request throws(OAuth2Error) in
            request.endpoint.path == places[place]
                ? Given.response(#"{"issuer":"https://id.example/t1","token_endpoint":"https://id.example/t"}"#)
                : Given.response("", status: .notFound)
        }
        let metadata = try await MetadataDiscovery(issuer: "https://id.example/t1").metadata(over: transport)
        #expect(metadata.endpoints == [.token: "https://id.example/t"])
        #expect(await transport.requests.map(\.endpoint.path) == Array(places[...place]))
    }

    @Test("No place is asked twice")
    func placesOnce() async throws {
        let transport = ScriptedTransport { _ throws(OAuth2Error) in Given.response("", status: .notFound) }
        let discovery = try MetadataDiscovery(issuer: "https://id.example")
        await #expect(throws: OAuth2Error.self) { try await discovery.metadata(over: transport) }
        #expect(await transport.requests.count == 2)
    }

    @Test(
        "An error names the document's issuer, if that is a URL",
        arguments: [
            (#"{"issuer":"https://id.example/"}"#, true), (#"{"issuer":"https://id.example/ or else"}"#, false),
            (#"{"issuer":"https://id.example/\u001b[2J"}"#, false), ("{}", false),
            (#"{"issuer":"https://id.example/?token=x"}"#, false),
        ])
    func named(_ body: String, isNamed: Bool) throws {
        let discovery = try MetadataDiscovery(issuer: "https://id.example")
        let error = thrown { () throws(OAuth2Error) in try discovery.metadata(in: Given.response(body)) }
        #expect(error?.code == .issuerMismatch)
        #expect(error?.description.contains("'https://id.example/'") == isNamed)
    }

    @Test("OpenID Connect's document is enough, and of two failures the first is told")
    func fallback() async throws {
        let discovery = try MetadataDiscovery(issuer: "https://id.example")
        let only = ScriptedTransport { request throws(OAuth2Error) in
            request.endpoint.path.hasSuffix("openid-configuration")
                ? Given.response(
                    #"{"issuer":"https://id.example","token_endpoint":"https://id.example/t","#
                        + #""authorization_response_iss_parameter_supported":true,"#
                        + #""token_endpoint_auth_methods_supported":["client_secret_post"]}"#)
                : Given.response("<html>not found</html>", status: .notFound)
        }
        let metadata = try await discovery.metadata(over: only)
        #expect(metadata.sendsIssuer && metadata.authenticationMethods == ["client_secret_post"])
        let none = ScriptedTransport { request throws(OAuth2Error) in
            request.endpoint.path.hasSuffix("openid-configuration")
                ? Given.response("", status: .badGateway) : Given.response("<html>", status: .notFound)
        }
        await #expect { try await discovery.metadata(over: none) } throws: {
            ($0 as? OAuth2Error)?.status == 404
        }
    }

    @Test("An endpoint without TLS is refused where it is used, unless that was allowed")
    func insecure() throws {
        let metadata = ServerMetadata(issuer: "https://id.example", endpoints: [.token: "http://id.example/t"])
        #expect(thrown { () throws(OAuth2Error) in try metadata.url(of: .token) }?.code == .insecureEndpoint)
        #expect(try metadata.url(of: .token, dangerouslyAllowingPlainHTTP: true).scheme == "http")
        let loopback = ServerMetadata(endpoints: [.token: "http://127.0.0.1:4593/t"])
        #expect(try loopback.url(of: .token).authority == "127.0.0.1:4593")
    }
}
