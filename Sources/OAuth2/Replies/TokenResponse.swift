package import HTTPTypes
package import WebPrimitives

/// The parser of a token endpoint's reply (RFC 6749, sections 5.1 and 5.2).
///
/// Tolerant where servers differ without harm (`expires_in` as text, a missing `token_type`, an array of scopes), and
/// strict about values that are sent later. Members that a ``TokenSet`` cannot hold are dropped.
package enum TokenResponse {
    /// Reads a reply of any token endpoint.
    ///
    /// - Parameters:
    ///   - status: The reply's status.
    ///   - body: The reply's body, without content encodings.
    ///   - now: When the reply was received.
    ///   - secrets: The secrets of the request, so that no error contains them if the server repeats them.
    /// - Returns: The tokens, if the server issued some. A reply without scopes has none.
    /// - Throws: The server's error, or the defect of the reply. Only ``OAuth2Error/Code/invalidGrant`` means that the
    ///   grant is lost.
    package static func tokenSet(
        status: HTTPResponse.Status, body: [UInt8], now: Timestamp, redacting secrets: [Secret] = []
    ) throws(OAuth2Error) -> TokenSet {
        let status = status.code
        let members = try ReplyBody.members(ofReply: body, status: status, with: "access_token", redacting: secrets)
        let expiry = TokenExpiry(members: members)
        return try TokenSet(members, status: status, receivedAt: now) { expiry.ofReply($0, receivedAt: now) }
    }

    /// The same of a reply as a transport gives it.
    package static func tokenSet(
        _ response: EndpointResponse, now: Timestamp, redacting secrets: [Secret] = []
    ) throws(OAuth2Error) -> TokenSet {
        do {
            return try tokenSet(status: response.status, body: response.exposedBody, now: now, redacting: secrets)
        } catch {
            throw error.annotated(by: response)
        }
    }

    /// The refresh token in a successful reply, even if the rest of the reply is damaged or truncated.
    ///
    /// A server that rotates refresh tokens has ended the old one when it answers, so store the new one before
    /// anything else of the reply can fail. `nil` if the reply is not a success, or has no whole refresh token.
    package static func refreshToken(status: HTTPResponse.Status, body: [UInt8]) -> Secret? {
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

extension TokenSet {
    /// The members of a token endpoint's successful reply that a token set has (RFC 6749, section 5.1). The rest is
    /// ignored.
    ///
    /// Strict about the tokens themselves: a token that could not be sent later is rejected now.
    init(
        _ members: JSONObject, status: Int?, receivedAt: Timestamp, expiry: (TokenExpiry.Names) -> Timestamp?
    ) throws(OAuth2Error) {
        let accessToken: Secret
        switch members["access_token"] {
        case let value? where value.text != nil:
            let text = value.text ?? ""
            guard TokenSyntax.isAccessToken(text) else {
                throw .unusable(
                    .invalidAccessToken, status: status,
                    text.isEmpty
                        ? "its access_token is empty"
                        : "its access_token has characters that are not allowed in a request")
            }
            accessToken = Secret(text)
        case nil:
            throw .unusable(.missingAccessToken, status: status, "it has no access_token")
        default:
            throw .unusable(.invalidAccessToken, status: status, "its access_token is not a string")
        }
        let refreshToken = try Self.secret(members, "refresh_token", status, TokenSyntax.isRefreshToken)
        let idToken = try Self.secret(members, "id_token", status, TokenSyntax.isAccessToken)
        self.init(
            accessToken: accessToken, tokenType: try Self.tokenType(members["token_type"], status),
            refreshToken: refreshToken, idToken: idToken, scopes: Self.scopes(members["scope"]),
            receivedAt: receivedAt, accessTokenExpiry: expiry(.accessToken), refreshTokenExpiry: expiry(.refreshToken),
            grantExpiry: expiry(.grant))
    }

    /// An optional token. A value that is not a string, or an empty one, is no token.
    private static func secret(
        _ members: JSONObject, _ name: StaticString, _ status: Int?, _ isValid: (String) -> Bool
    ) throws(OAuth2Error) -> Secret? {
        guard let text = members[name]?.nonEmptyText else { return nil }
        guard isValid(text) else {
            throw .unusable(
                .invalidMember, status: status, "its \(name) has characters that are not allowed in a token")
        }
        return Secret(text)
    }

    /// NB: section 5.1 requires `token_type`. Servers leave it out and mean Bearer.
    private static func tokenType(_ value: JSONValue?, _ status: Int?) throws(OAuth2Error) -> TokenType {
        guard let name = value?.nonEmptyText else { return .bearer }
        guard TokenSyntax.isTokenType(name) else {
            throw .unusable(.invalidMember, status: status, "its token_type is not a valid name")
        }
        return TokenType(name)
    }

    /// NB: section 5.1 has a string. Some servers answer with an array of strings.
    private static func scopes(_ value: JSONValue?) -> Scopes? {
        switch value {
        case .string?: value?.text.map { Scopes(parsing: $0) }
        case .array?: value.map { Scopes($0.texts) }
        default: nil
        }
    }
}

/// A body that should be a JSON object: of a reply, or of a saved one.
enum ReplyBody {
    /// The object's members.
    static func members(of body: [UInt8], status: Int?) throws(OAuth2Error) -> JSONObject {
        guard body.count <= EndpointResponse.maximumBodySize else {
            throw .unusable(.tooLarge, status: status, "it is larger than \(EndpointResponse.maximumBodySize) bytes")
        }
        switch firstByte(of: body) {
        case nil: throw .unusable(.empty, status: status, "it is empty")
        case UInt8(ascii: "<"):
            throw .unusable(
                .markup, status: status, "it is HTML or XML, not JSON; it may come from a login page or a proxy")
        default: break
        }
        switch JSONDocument(body) {
        case .object(let members): return members
        case .other: throw .unusable(.notAnObject, status: status, "it is JSON, but not an object")
        case .invalid: throw .unusable(.notJSON, status: status, "it is not JSON, or not all of it")
        }
    }

    /// The members of a successful reply.
    ///
    /// - Parameters:
    ///   - name: The member that a success has, whatever its `error` says; `nil` if every error counts. Some servers
    ///     answer 200 with an error.
    ///   - secrets: The secrets of the request.
    /// - Throws: The server's error, or the defect of the reply.
    static func members(
        ofReply body: [UInt8], status: Int, with name: StaticString? = nil, redacting secrets: [Secret]
    ) throws(OAuth2Error) -> JSONObject {
        let isSuccess = (200..<300).contains(status)
        func refusal(_ members: JSONObject, _ bodyKind: String) -> OAuth2Error {
            .refusal(status: status, members: members, bodyKind: bodyKind, redacting: secrets)
        }
        let members: JSONObject
        do {
            members = try ReplyBody.members(of: body, status: status)
        } catch {
            throw isSuccess ? error : refusal(JSONObject(), kind(of: error))
        }
        let isError = name.flatMap { members[$0] } == nil && members["error"]?.nonEmptyText != nil
        guard isSuccess, !isError else { throw refusal(members, "JSON without a usable error code") }
        return members
    }

    /// The kind of body for which `error` was thrown, for the middle of a sentence.
    private static func kind(of error: OAuth2Error) -> String {
        switch error.code {
        case .empty: "an empty body"
        case .tooLarge: "an oversized body"
        case .markup: "HTML or XML, not JSON"
        default: "a body that is not a JSON object"
        }
    }

    /// The first byte that is neither part of a byte order mark nor white space.
    static func firstByte(of body: [UInt8]) -> UInt8? {
        let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        return text.first { !isWhitespace($0) }
    }

    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
