import Foundation
import HTTPTypes
import TestSupport
import Testing
import WebPrimitives

@testable import OAuth2

/// RFC 8705: https://www.rfc-editor.org/rfc/rfc8705.html
@Suite("Mutual TLS")
struct ClientCertificateTests {
    private static let (certificate, key) = (SampleCertificate.pem, SampleCertificate.keyPEM)

    @Test("The thumbprint is the one that openssl computes, however the file is laid out")
    func thumbprint() throws {
        let (certificate, key) = (ClientCertificateTests.certificate, ClientCertificateTests.key)
        for text in [certificate + key, key + certificate, (certificate + key).replacing("\n", with: " \r\n")] {
            let parsed = try ClientCertificate(pem: Secret(text))
            #expect(parsed.thumbprint == "_Ai7k2sehdaZqRGj7jQ-swrRLi8lI7VlPg0rR2uF3Bs")
        }
        let joined = try ClientCertificate(certificate: Array(certificate.utf8), key: Secret(key))
        #expect(joined.pem.exposedText?.contains("PRIVATE KEY") == true && !shown(joined).contains("MIGHAgEA"))
    }

    @Test(
        "A file without a certificate or without an open key is refused",
        arguments: [
            ("", "certificate"), (certificate, "private key"), (key, "certificate"),
            (certificate + key.replacing("PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY"), "private key"),
            (certificate.replacing("-----END", with: "-----FIN") + key, "certificate"),
            (certificate.replacing("MIIBcTCC", with: "MII!cTCC") + key, "certificate"),
        ])
    func unusable(text: String, missing: String) {
        let error = thrown { () throws(OAuth2Error) in try ClientCertificate(pem: Secret(text)) }
        #expect(error?.code == .invalidKey && error?.description.contains(missing) == true)
    }

    @Test(
        "The client names itself and sends no secret",
        arguments: [
            (ProfileSettings.AuthenticationMethod.tlsClientAuth, "tls_client_auth"),
            (.selfSignedTLSClientAuth, "self_signed_tls_client_auth"),
        ])
    func authentication(method: ProfileSettings.AuthenticationMethod, name: String) async throws {
        let settings = ProfileSettings(
            grant: .clientCredentials, endpoints: [.token: "https://id.example/token"], authenticationMethod: method)
        let credentials = ProfileCredentials(settings: settings, clientCertificate: Secret("pem-of-the-client"))
        var generator = CountingGenerator()
        let authentication = try credentials.authentication(
            of: ProfileID(clientID: "app"), now: now, using: &generator)
        #expect(authentication.methodName == name && authentication.authorization == nil)
        let grant = RepeatableGrant(
            .clientCredentials, tokenEndpoint: try Given.endpoint(), authentication: authentication)
        #expect(Given.form(grant.request()) == ["grant_type=client_credentials", "client_id=app"])
        // What posts shows the certificate, also with proofs by a key; a document that anyone may read does not.
        for proofKey in [nil, SigningKey().secret] {
            var bound = credentials
            bound.proofKey = proofKey
            let base = ScriptedTransport { _ throws(OAuth2Error) in Given.response("{}") }
            let transport = try bound.binding(base) { now }
            _ = try await transport.send(grant.request())
            _ = try await transport.send(EndpointRequest(reading: try Given.endpoint("/keys")))
            let requests = await base.requests
            #expect(requests.map { $0.exposedClientCertificate != nil } == [true, false])
            #expect(requests.allSatisfy { !shown($0).contains("pem-of-the-client") })
        }
    }

    @Test("The metadata's aliases are read, and only those of endpoints")
    func aliases() throws {
        let body = #"""
            {"issuer":"https://id.example","token_endpoint":"https://id.example/token",
             "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.id.example/token","x":"https://x.example"}}
            """#
        let metadata = try MetadataDiscovery(issuer: "https://id.example").metadata(in: Given.response(body))
        #expect(metadata.mutualTLSEndpoints == [.token: "https://mtls.id.example/token"])
        #expect(metadata.endpoints == [.token: "https://id.example/token"])
    }

    @Test(
        "A token that is bound to a certificate is marked as such",
        arguments: [
            (#"{"cnf":{"x5t#S256":"bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}}"#, true),
            (#"{"cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}"#, false),
            (#"{"cnf":"x5t#S256"}"#, false), ("{}", false), ("[]", false), ("", false),
        ])
    func boundToken(claims: String, isBound: Bool) throws {
        let payload = String(decoding: Base64.encodeForURL(Array(claims.utf8)), as: UTF8.self)
        let token = TokenSet(accessToken: Secret("e30.\(payload).c2ln"), receivedAt: now)
        #expect((token.certificateThumbprint == "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2") == isBound)
        #expect((token.certificateThumbprint != nil) == isBound)
        #expect(TokenSet(accessToken: Secret(claims), receivedAt: now).certificateThumbprint == nil)
        guard claims.hasPrefix("{") else { return }
        let body = #"{"active":true,"#.dropLast() + "," + claims.dropFirst().dropLast()
        let introspection = TokenIntrospection(
            endpoint: try Given.endpoint("/introspect"), authentication: Given.authentication)
        let answer = try introspection.answer(
            in: Given.response((body.hasSuffix(",") ? body.dropLast() : body) + "}"), about: Secret("t"))
        #expect((answer.certificateThumbprint != nil) == isBound)
    }
}
