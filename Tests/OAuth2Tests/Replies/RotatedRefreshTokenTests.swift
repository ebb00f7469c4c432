import HTTPTypes
import OAuth2
import Testing

@Suite("A rotated refresh token")
struct RotatedRefreshTokenTests {
    @Test(
        "A rotated refresh token is found in the rest of a successful reply",
        arguments: [
            (#"{"access_token":"a","refresh_token":"r"}"#, "r"), (#"{"refresh_token":"r"}"#, "r"),
            (#"{"access_token":"a b","refresh_token":"r"}"#, "r"), (#"{"refresh_token":"r","access_token":"#, "r"),
            (#"{"refresh_token":"r","access_token":"a"#, "r"), (#"{"refresh_token":"r""#, "r"),
            (#"{"refresh_token":"r","expires_in":NaN}"#, "r"), (#"{"refresh_token":"r"}<!-- proxy -->"#, "r"),
            // Half a token is none.
            (#"{"refresh_token":"r"#, nil), (#"{"access_token":"a"}"#, nil), (#"{"refresh_token":null}"#, nil),
            (#"{"refresh_token":""}"#, nil), (#"{"refresh_token":"r\n"}"#, nil), (#"[{"refresh_token":"r"}]"#, nil),
            (#"{"x":{"refresh_token":"r"}}"#, nil), (#"{"x":{"refresh_token":"r"},"#, nil), ("", nil), ("<html>", nil),
        ])
    func salvage(_ body: String, _ expected: String?) {
        #expect(TokenResponse.refreshToken(status: .ok, body: Array(body.utf8))?.exposedText == expected)
        #expect(TokenResponse.refreshToken(status: .badRequest, body: Array(body.utf8)) == nil)
    }

    @Test("A rotated refresh token is found before the limit of a body that is too large")
    func oversized() {
        let body = Array(#"{"refresh_token":"r","x":""#.utf8) + Array(repeating: 0x78, count: 2_000_000)
        #expect(TokenResponse.refreshToken(status: .ok, body: body)?.exposedText == "r")
    }
}
