public import HTTPTypes
internal import WebPrimitives

/// What an authorization server answered. It may hold secrets, so it prints as its status only.
public struct EndpointResponse: Sendable {
    /// The status.
    public let status: HTTPResponse.Status
    /// The header fields.
    public let exposedFields: HTTPFields
    /// The body without content encodings, of at most one byte more than ``maximumBodySize``.
    public let exposedBody: [UInt8]

    /// Who has answered, for errors; `nil` if the transport does not say.
    public var endpoint: EndpointURL?

    /// How many bytes of a body are read at most; a transport need not receive more than one byte beyond.
    public static let maximumBodySize = 1_048_576

    /// A response from its parts.
    public init(status: HTTPResponse.Status, fields: HTTPFields = HTTPFields(), body: [UInt8]) {
        self.status = status
        exposedFields = fields
        exposedBody = body
    }

    var isSuccess: Bool { (200..<300).contains(statusCode) }

    /// The status as a number.
    package var statusCode: Int { status.code }

    /// The members of a successful reply.
    ///
    /// - Throws: What the server refused, or what is wrong with the reply.
    func members(redacting secrets: [Secret]) throws(OAuth2Error) -> JSONObject {
        let members: JSONObject
        do {
            members = try ReplyBody.members(of: exposedBody, status: status.code)
        } catch {
            guard isSuccess else { throw refusal(JSONObject(), bodyKind: ReplyBody.kind(of: error), secrets) }
            throw error.annotated(by: self)
        }
        guard isSuccess, members["error"]?.nonEmptyText == nil else {
            throw refusal(members, bodyKind: "JSON without a usable error code", secrets)
        }
        return members
    }

    /// Accepts a success whatever its body is.
    package func expectSuccess(redacting secrets: [Secret] = []) throws(OAuth2Error) {
        guard !isSuccess else { return }
        _ = try members(redacting: secrets)
    }

    private func refusal(_ members: JSONObject, bodyKind: String, _ secrets: [Secret]) -> OAuth2Error {
        OAuth2Error.refusal(status: status.code, members: members, bodyKind: bodyKind, redacting: secrets)
            .annotated(by: self)
    }
}

extension EndpointResponse: CustomStringConvertible, CustomReflectable {
    /// The status.
    public var description: String { "\(status.code)" }

    /// A mirror of the status alone.
    public var customMirror: Mirror { Mirror(self, children: ["status": status.code]) }
}
