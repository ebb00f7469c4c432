internal import WebPrimitives

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
                .markup, status: status, "it is HTML or XML instead of JSON, as from a login page or a proxy")
        default: break
        }
        switch JSONDocument(body) {
        case .object(let members): return members
        case .other: throw .unusable(.notAnObject, status: status, "it is JSON, but not an object")
        case .invalid: throw .unusable(.notJSON, status: status, "it is not JSON, or not all of it")
        }
    }

    /// What a body is that `error` was thrown for, for the middle of a sentence.
    static func kind(of error: OAuth2Error) -> String {
        switch error.code {
        case .empty: "an empty body"
        case .tooLarge: "an oversized body"
        case .markup: "HTML or XML instead of JSON"
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
