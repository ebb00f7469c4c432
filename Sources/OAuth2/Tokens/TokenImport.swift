package import WebPrimitives

/// Tokens that another tool obtained, in the forms in which people have them.
///
/// - A token endpoint's JSON reply as it came, or as a tool saved it: with `expires_at`, `expires_on`, `expiry` or
///   `expiry_date` as RFC 3339 or Unix time, or `created_at` beside `expires_in`. Without any of these, `expires_in`
///   counts from now, which is right only for a reply that has just come.
/// - An access token alone on one line, also with `Bearer` before it or as a JSON string.
package enum TokenImport {
    /// Reads `bytes` in whichever form they are.
    ///
    /// - Parameters:
    ///   - bytes: The user's input, at most ``EndpointResponse/maximumBodySize`` bytes.
    ///   - now: The time of the import.
    /// - Returns: The tokens. An access token alone has no known expiry.
    /// - Throws: The defect of the input, without any part of it.
    package static func tokenSet(_ bytes: [UInt8], now: Timestamp) throws(OAuth2Error) -> TokenSet {
        switch ReplyBody.firstByte(of: bytes) {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"), nil:
            return try savedReply(bytes, now: now)
        default:
            return try bareToken(bytes, now: now)
        }
    }

    private static func savedReply(_ bytes: [UInt8], now: Timestamp) throws(OAuth2Error) -> TokenSet {
        let members = try ReplyBody.members(of: bytes, status: nil)
        if members.first(of: ["access_token"]) == nil,
            let serverCode = ServerText.errorCode(members["error"], redacting: [])
        {
            throw OAuth2Error(
                .refused, serverCode: serverCode,
                "The input cannot be used: it is an error of a server (\(serverCode)), not tokens.")
        }
        let expiry = TokenExpiry(members: members)
        // A reply cannot have been received after now, whatever the clock of the tool that saved it said.
        let receivedAt = min(expiry.createdAt ?? now, now)
        return try TokenSet(members, status: nil, receivedAt: receivedAt) {
            expiry.ofSavedReply($0, receivedAt: receivedAt)
        }
    }

    private static func bareToken(_ bytes: [UInt8], now: Timestamp) throws(OAuth2Error) -> TokenSet {
        guard bytes.count <= EndpointResponse.maximumBodySize else {
            throw .unusable(
                .tooLarge, status: nil, "it is larger than \(EndpointResponse.maximumBodySize) bytes")
        }
        let text = try withoutScheme(unquoted(bytes))
        // `jq -r .access_token` prints "null" if there is none.
        guard text != "null" else { throw .unusable(.missingAccessToken, status: nil, "it is null, not a token") }
        guard TokenSyntax.isAccessToken(text) else {
            throw .unusable(
                .invalidAccessToken, status: nil, "it is neither JSON nor one access token of visible ASCII characters")
        }
        return TokenSet(accessToken: Secret(text), receivedAt: now)
    }

    /// Returns the text without white space around it. For a JSON string, returns its content.
    private static func unquoted(_ bytes: [UInt8]) throws(OAuth2Error) -> String {
        guard ReplyBody.firstByte(of: bytes) == UInt8(ascii: "\"") else {
            var line = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
            line = line.drop(while: ReplyBody.isWhitespace)
            while let last = line.last, ReplyBody.isWhitespace(last) { line.removeLast() }
            return String(decoding: line, as: UTF8.self)
        }
        guard case .other(let value) = JSONDocument(bytes), let text = value.text else {
            throw .unusable(.notJSON, status: nil, "it begins with a quotation mark, but is not a JSON string")
        }
        return text
    }

    private static func withoutScheme(_ text: String) -> String {
        let scheme = "bearer "
        guard text.prefix(scheme.count).lowercased() == scheme else { return text }
        return String(text.dropFirst(scheme.count).drop { $0 == " " })
    }
}
