public import HTTPTypes
internal import WebPrimitives

/// A token endpoint's reply, read (RFC 6749, sections 5.1 and 5.2).
///
/// Tolerant where servers differ without harm (`expires_in` as text, a missing `token_type`, an array of scopes), and
/// strict about what is sent on later. Members that a ``TokenSet`` has no place for are not kept.
public enum TokenResponse {
    /// Reads a reply of any token endpoint.
    ///
    /// - Parameters:
    ///   - status: The reply's status.
    ///   - body: The reply's body, without content encodings.
    ///   - now: When the reply came, in microseconds since the Unix epoch.
    ///   - secrets: What the request held, so that a server that repeats it does not bring it into an error.
    /// - Returns: The tokens, where the server issued some. A reply without scopes has none.
    /// - Throws: What the server refused or what is wrong with the reply. Only ``OAuth2Error/Code/invalidGrant`` says
    ///   that the grant is lost.
    public static func tokenSet(
        status: HTTPResponse.Status, body: [UInt8], now: Int64, redacting secrets: [Secret] = []
    ) throws(OAuth2Error) -> TokenSet {
        let status = status.code
        let isSuccess = (200..<300).contains(status)
        let members: JSONObject
        do {
            members = try ReplyBody.members(of: body, status: status)
        } catch {
            guard isSuccess else {
                throw .refusal(
                    status: status, members: JSONObject(), bodyKind: ReplyBody.kind(of: error), redacting: secrets)
            }
            throw error
        }
        // Some servers answer 200 with an error, so an error without a token is one, whatever the status.
        let isError = members.first(of: ["access_token"]) == nil && members["error"]?.nonEmptyText != nil
        guard isSuccess, !isError else {
            throw .refusal(
                status: status, members: members, bodyKind: "JSON without a usable error code", redacting: secrets)
        }
        let issued = try TokenMembers(members, status: status)
        let expiry = TokenExpiry(members: members)
        return TokenSet(
            accessToken: issued.accessToken, tokenType: issued.tokenType, refreshToken: issued.refreshToken,
            idToken: issued.idToken, scopes: issued.scopes, receivedAt: now,
            accessTokenExpiry: expiry.ofReply(.accessToken, receivedAt: now),
            refreshTokenExpiry: expiry.ofReply(.refreshToken, receivedAt: now),
            grantExpiry: expiry.ofReply(.grant, receivedAt: now))
    }

    /// The same of a reply as a transport gives it.
    public static func tokenSet(
        _ response: EndpointResponse, now: Int64, redacting secrets: [Secret] = []
    ) throws(OAuth2Error) -> TokenSet {
        do {
            return try tokenSet(status: response.status, body: response.exposedBody, now: now, redacting: secrets)
        } catch {
            throw error.annotated(by: response)
        }
    }

    /// The refresh token in a successful reply, even where the rest of the reply is damaged or breaks off after it.
    ///
    /// A server that rotates refresh tokens has ended the old one when it answers, so the new one is to be kept before
    /// anything else of the reply can fail. `nil` where the reply is not a success, or has no whole refresh token.
    public static func refreshToken(status: HTTPResponse.Status, body: [UInt8]) -> Secret? {
        guard (200..<300).contains(status.code) else { return nil }
        let members: JSONObject
        switch JSONDocument(Array(body.prefix(EndpointResponse.maximumBodySize))) {
        case .object(let object): members = object
        case .invalid(let read): members = read
        case .other: return nil
        }
        guard let text = members["refresh_token"]?.text, TokenSyntax.isRefreshToken(text) else { return nil }
        return Secret(text)
    }
}
