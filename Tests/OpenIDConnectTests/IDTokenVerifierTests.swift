import Foundation
import HTTPTypes
import JWTKit
import OAuth2
import OpenIDConnect
import Testing

@Suite("IDTokenVerifier")
struct IDTokenVerifierTests {
    private struct Claims: JWTPayload {
        var iss = "https://id.example"
        var sub = "me"
        var aud = "app"
        var exp = 1_795_248_060

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let key = ES256PrivateKey()

    private func jwk(_ key: ES256PrivateKey, kid: String?) throws -> String {
        let parameters = try #require(key.parameters)
        func forURL(_ text: String) -> String {
            text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let name = kid.map { #","kid":"\#($0)""# } ?? ""
        return #"{"kty":"EC","crv":"P-256","x":"\#(forURL(parameters.x))","y":"\#(forURL(parameters.y))"\#(name)}"#
    }

    private func token(_ key: ES256PrivateKey, kid: String? = "k1") async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: key, kid: kid.map { JWKIdentifier(string: $0) })
        return try await keys.sign(Claims(), kid: kid.map { JWKIdentifier(string: $0) })
    }

    private func verifier(_ keys: String..., status: HTTPResponse.Status = .ok) throws -> IDTokenVerifier {
        let body = "{\"keys\":[" + keys.joined(separator: ",") + "]}"
        return try IDTokenVerifier(keys: EndpointResponse(status: status, body: Array(body.utf8)))
    }

    private func isRefused(_ token: String, by verifier: IDTokenVerifier) async -> Bool {
        do {
            _ = try await verifier.claims(in: Secret(token))
            return false
        } catch {
            return error.code == .invalidIDToken && !"\(error)".contains(token)
        }
    }

    @Test("A token that a key of the server has signed is accepted, whatever else is in the set")
    func signed() async throws {
        let token = try await token(key)
        let others = [
            #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"new"}"#, #"{"use":"enc","kty":"RSA","n":"AQAB","e":"AQAB"}"#,
            try jwk(ES256PrivateKey(), kid: "k2"),
        ]
        for keys in [[try jwk(key, kid: "k1")], others + [try jwk(key, kid: "k1")], others + [try jwk(key, kid: nil)]] {
            let body = "{\"keys\":[" + keys.joined(separator: ",") + "]}"
            let verifier = try IDTokenVerifier(keys: EndpointResponse(status: .ok, body: Array(body.utf8)))
            let claims = try await verifier.claims(in: Secret(token))
            #expect(claims.subject == "me" && claims.issuer == "https://id.example")
        }
    }

    @Test("Ed25519 is known by its own name as well as by EdDSA (RFC 9864)", arguments: ["EdDSA", "Ed25519"])
    func ed25519(name: String) async throws {
        // The key of RFC 8037, appendix A. What a client signs to authenticate is a token like any other.
        let pem = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
            -----END PRIVATE KEY-----
            """
        let key = try SigningKey(pem: Secret(pem), algorithm: SigningKey.Algorithm(rawValue: name))
        var generator = SystemRandomNumberGenerator()
        let assertion = ClientAssertion(clientID: "app", audience: "app", key: key)
        guard
            case .clientAssertion(_, let token) = try assertion.authentication(
                now: .epoch, using: &generator)
        else { return }
        let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
        for algorithm in ["", #","alg":"EdDSA""#, #","alg":"Ed25519""#] {
            // Another key in front of it must not be the one that is asked.
            let verifier = try verifier(
                try jwk(ES256PrivateKey(), kid: nil), #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"\#(algorithm)}"#)
            #expect(try await verifier.claims(in: token).algorithm == name)
        }
        let other = #"{"kty":"OKP","crv":"Ed25519","x":"A\#(x.dropFirst())"}"#
        #expect(await isRefused(try #require(token.exposedText), by: try verifier(other)))
    }

    @Test("A key that is meant for another algorithm verifies nothing")
    func otherAlgorithm() async throws {
        let token = try await token(key)
        let jwk = try jwk(key, kid: "k1")
        #expect(await !isRefused(token, by: try verifier(jwk.replacing("{", with: #"{"alg":"ES256","#))))
        #expect(await isRefused(token, by: try verifier(jwk.replacing("{", with: #"{"alg":"ES384","#))))
    }

    @Test("Another key's signature, a changed claim, and none at all are refused")
    func refused() async throws {
        let verifier = try verifier(try jwk(key, kid: "k1"))
        let right = try await token(key)
        #expect(await !isRefused(right, by: verifier))
        #expect(await isRefused(try await token(ES256PrivateKey()), by: verifier))
        let parts = right.split(separator: ".").map(String.init)
        let payload = Data(#"{"iss":"https://id.example","sub":"you","aud":"app","exp":1795248060}"#.utf8)
            .base64EncodedString().replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
        #expect(await isRefused("\(parts[0]).\(payload).\(parts[2])", by: verifier))
        // {"alg":"none"} and {"alg":"HS256"}
        for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9"] {
            #expect(await isRefused("\(header).\(parts[1]).", by: verifier))
            #expect(await isRefused("\(header).\(parts[1]).\(parts[2])", by: verifier))
        }
    }

    @Test("A server that cannot show its keys now is told from one that has none", arguments: [429, 500, 503])
    func later(status: Int) {
        let error = #expect(throws: OAuth2Error.self) {
            try IDTokenVerifier(keys: EndpointResponse(status: HTTPResponse.Status(code: status), body: []))
        }
        #expect(error?.isTemporary == true)
    }

    @Test("An invalid key set is rejected", arguments: ["", "[]", "{}", #"{"keys":7}"#, #"{"keys":[]}"#, "<html>"])
    func noKeys(body: String) {
        #expect(throws: OAuth2Error.self) {
            try IDTokenVerifier(keys: EndpointResponse(status: .ok, body: Array(body.utf8)))
        }
    }
}
