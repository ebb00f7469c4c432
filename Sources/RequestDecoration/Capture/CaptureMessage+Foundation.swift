public import CookieModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CaptureMessage {
    /// Reads a message of a ``CaptureScript``.
    ///
    /// Strict: rejects a message with anything that the script never sends. The limits are 256 KiB and 64 cookies.
    ///
    /// - Parameter text: the message's body.
    public init(_ text: String) throws(ScriptMessageError) {
        self = try ScriptMessage.decode(CaptureMessageDocument.self, text).message
    }
}

private struct CaptureMessageDocument: Decodable {
    private static let itemLimit = 64

    let message: CaptureMessage

    init(from decoder: any Decoder) throws {
        let all = try ScriptMessageObject(
            decoder,
            [
                "crumb", "kind", "url", "line", "changed", "deleted", "through", "response", "method", "status",
                "redirected",
            ])
        guard try all.text("crumb", limit: 16) == "capture" else { throw all.malformed("crumb") }
        let common: Set<String> = ["crumb", "kind", "url"]
        let place = try all.requiredText("url", limit: 65_536)
        let url = try? RequestURL(place)
        let content: CaptureMessage.Content
        switch try all.requiredText("kind", limit: 16) {
        case "cookie":
            let object = try ScriptMessageObject(decoder, common.union(["line"]))
            content = .cookie(Octets(try object.requiredText("line", limit: 65_536)))
        case "change":
            let object = try ScriptMessageObject(decoder, common.union(["changed", "deleted"]))
            let limit = CaptureMessageDocument.itemLimit
            content = .change(
                set: try object.list("changed", of: ChangedCookieDocument.self, limit: limit).map(\.cookie),
                deleted: try object.list("deleted", of: ChangedCookieDocument.self, limit: limit).map(\.cookie))
        case "response":
            let object = try ScriptMessageObject(
                decoder, common.union(["through", "response", "method", "status", "redirected"]))
            guard let through = ScriptResponse.Interface(rawValue: try object.requiredText("through", limit: 16)) else {
                throw object.malformed("through")
            }
            guard let number = try object.number("status"), let status = Int(exactly: number),
                (0...999).contains(status)
            else { throw object.malformed("status") }
            content = .response(
                ScriptResponse(
                    through: through, url: try object.text("response", limit: 131_072),
                    method: try object.requiredText("method", limit: 1024), status: status,
                    isRedirected: try object.flag("redirected") ?? false))
        case "touched":
            _ = try ScriptMessageObject(decoder, common)
            content = .touched
        default:
            throw all.malformed("kind")
        }
        message = CaptureMessage(content, url: url)
    }
}

private struct ChangedCookieDocument: Decodable {
    let cookie: ChangedCookie

    init(from decoder: any Decoder) throws {
        let object = try ScriptMessageObject(
            decoder, ["name", "value", "domain", "path", "expires", "secure", "sameSite", "partitioned"])
        let sameSite: SameSite
        switch try object.text("sameSite", limit: 16) {
        case "strict": sameSite = .strict
        case "lax": sameSite = .lax
        case "none": sameSite = .none
        case nil: sameSite = .default
        default: throw object.malformed("sameSite")
        }
        var expiry: Timestamp?
        if let milliseconds = try object.number("expires") {
            guard let microseconds = Int64(exactly: (milliseconds * 1000).rounded()) else {
                throw object.malformed("expires")
            }
            expiry = Timestamp(microseconds: microseconds)
        }
        cookie = ChangedCookie(
            name: try object.requiredText("name", limit: 16_384), value: try object.text("value", limit: 16_384),
            domain: try object.text("domain", limit: 1024), path: try object.text("path", limit: 16_384),
            expiry: expiry, isSecure: try object.flag("secure") ?? false, sameSite: sameSite,
            isPartitioned: try object.flag("partitioned") ?? false)
    }
}

/// The rules that all messages of scripts share: JSON of a known shape, within limits, from a sender who may be
/// hostile.
enum ScriptMessage {
    /// The longest message, in bytes.
    static let byteLimit = 262_144

    /// Reads a message.
    static func decode<Document: Decodable>(_ type: Document.Type, _ text: String) throws(ScriptMessageError)
        -> Document
    {
        guard text.utf8.count <= byteLimit else { throw ScriptMessageError(.tooLarge) }
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch let error as DecodingError {
            throw ScriptMessage.error(error)
        } catch {
            throw ScriptMessageError(.notJSON)
        }
    }

    /// The description that distinguishes errors of this module from the decoder's.
    static let unexpected = "not expected"

    private static func error(_ error: DecodingError) -> ScriptMessageError {
        switch error {
        case .keyNotFound(let key, let context):
            ScriptMessageError(.malformed, place: place(context.codingPath + [key]))
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            ScriptMessageError(.malformed, place: place(context.codingPath))
        case .dataCorrupted(let context):
            // The decoder's own errors of this kind are about JSON itself.
            context.codingPath.isEmpty && context.debugDescription != unexpected
                ? ScriptMessageError(.notJSON) : ScriptMessageError(.malformed, place: place(context.codingPath))
        @unknown default:
            ScriptMessageError(.malformed)
        }
    }

    /// The path of a value. It contains only our own names: a message with unknown members is rejected before.
    private static func place(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text
    }
}

/// A JSON object of which every member is expected, and bounded.
struct ScriptMessageObject {
    private let container: KeyedDecodingContainer<AnyMember>
    private let codingPath: [any CodingKey]

    /// The object that `decoder` is at.
    ///
    /// - Parameter names: the members it may have; any other makes it malformed.
    init(_ decoder: any Decoder, _ names: Set<String>) throws {
        container = try decoder.container(keyedBy: AnyMember.self)
        codingPath = decoder.codingPath
        guard container.allKeys.allSatisfy({ names.contains($0.stringValue) }) else { throw malformed() }
    }

    /// Returns an error for an object of the wrong form.
    func malformed(_ name: String? = nil) -> DecodingError {
        let path = codingPath + (name.map { [AnyMember(stringValue: $0)] } ?? [])
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: ScriptMessage.unexpected))
    }

    /// A text of at most `limit` bytes; `nil` if it is missing or `null`.
    func text(_ name: String, limit: Int) throws -> String? {
        guard let text = try container.decodeIfPresent(String.self, forKey: AnyMember(stringValue: name)) else {
            return nil
        }
        guard text.utf8.count <= limit else { throw malformed(name) }
        return text
    }

    /// A required text of at most `limit` bytes.
    func requiredText(_ name: String, limit: Int) throws -> String {
        guard let text = try text(name, limit: limit) else { throw malformed(name) }
        return text
    }

    /// A truth value; `nil` if it is missing or `null`.
    func flag(_ name: String) throws -> Bool? {
        try container.decodeIfPresent(Bool.self, forKey: AnyMember(stringValue: name))
    }

    /// A number; `nil` if it is missing or `null`.
    func number(_ name: String) throws -> Double? {
        try container.decodeIfPresent(Double.self, forKey: AnyMember(stringValue: name))
    }

    /// An object; `nil` if it is missing or `null`.
    func member<Member: Decodable>(_ name: String, of type: Member.Type) throws -> Member? {
        try container.decodeIfPresent(type, forKey: AnyMember(stringValue: name))
    }

    /// A list of at most `limit` elements; empty if it is missing.
    func list<Element: Decodable>(_ name: String, of type: Element.Type, limit: Int) throws -> [Element] {
        let key = AnyMember(stringValue: name)
        guard container.contains(key) else { return [] }
        var elements = try container.nestedUnkeyedContainer(forKey: key)
        guard elements.count.map({ $0 <= limit }) ?? true else { throw malformed(name) }
        var list: [Element] = []
        while !elements.isAtEnd {
            guard list.count < limit else { throw malformed(name) }
            list.append(try elements.decode(type))
        }
        return list
    }
}

/// Why a message is rejected.
///
/// A page can send anything. The error names the place that is wrong and repeats nothing of the message.
public struct ScriptMessageError: DescribedError, Sendable, Hashable {
    /// The kind of failure.
    package enum Code: String, Sendable {
        /// The message is larger than any that a script sends.
        case tooLarge = "message-too-large"
        /// The message is not JSON.
        case notJSON = "message-not-json"
        /// The message is JSON, but not a message of a script.
        case malformed = "message-malformed"
    }

    /// The kind of failure, as a stable identifier.
    package let code: Code
    /// Where: `changed[3].name`; empty for the message itself.
    package let place: String

    init(_ code: Code, place: String = "") {
        self.code = code
        self.place = place
    }

    /// One sentence for a user.
    public var description: String {
        switch code {
        case .tooLarge: "the script's message is larger than \(ScriptMessage.byteLimit) bytes"
        case .notJSON: "the script's message is not JSON"
        case .malformed: "the script's message is not valid: \(place.isEmpty ? "the message" : place) is wrong"
        }
    }
}
