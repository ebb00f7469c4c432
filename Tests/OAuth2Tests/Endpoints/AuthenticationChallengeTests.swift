import OAuth2
import Testing

@Suite("Authentication challenges")
struct AuthenticationChallengeTests {
    @Test(
        "WWW-Authenticate is parsed as RFC 9110 defines",
        arguments: [
            ("Bearer", [AuthenticationChallenge(scheme: "bearer")]),
            (
                "Basic realm=\"a, b\\\"c\", charset=UTF-8",
                [AuthenticationChallenge(scheme: "basic", parameters: ["realm": "a, b\"c", "charset": "UTF-8"])]
            ),
            (
                "Negotiate, Bearer Error = \"x\"",
                [
                    AuthenticationChallenge(scheme: "negotiate"),
                    AuthenticationChallenge(scheme: "bearer", parameters: ["error": "x"]),
                ]
            ),
            ("", []), (" , =\"", []),
            ("Bearer error=\"open", [AuthenticationChallenge(scheme: "bearer", parameters: ["error": "open"])]),
        ])
    func fields(value: String, challenges: [AuthenticationChallenge]) {
        #expect(AuthenticationChallenge.challenges(in: value.utf8) == challenges)
    }

    @Test(
        "Only a DPoP challenge with that very error wants a nonce",
        arguments: [
            ("DPoP error=\"use_dpop_nonce\"", true), ("Bearer, dpop algs=\"ES256\", error=use_dpop_nonce", true),
            ("DPoP error=\"invalid_token\"", false), ("Bearer error=\"use_dpop_nonce\"", false), ("DPoP", false),
        ])
    func nonce(value: String, isWanted: Bool) {
        let challenges = AuthenticationChallenge.challenges(in: value.utf8)
        #expect(challenges.contains(where: \.wantsNonce) == isWanted)
    }
}
