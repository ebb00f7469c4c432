/// Which characters tokens are made of.
enum TokenSyntax {
    /// Whether `text` can be an access token: not empty, visible ASCII only.
    ///
    /// NB: RFC 6750, section 2.1 allows `b64token` only, and RFC 6749, appendix A.12 a space too. Tokens with `!` and
    /// `|` are issued by large providers and sent as Bearer tokens; a space would end the token in the header field.
    static func isAccessToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether `text` can be a refresh token: not empty, printable ASCII (RFC 6749, appendix A.17).
    static func isRefreshToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Whether `text` can be a token type's name: visible ASCII, of a sensible length (RFC 6749, appendix A.13).
    static func isTokenType(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && isAccessToken(text)
    }
}
