import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import SessionOperations
import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON as the command prints it: members in order of their names.
enum JSONText {
    /// A value in JSON.
    static func of(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            // Reports are made of text and numbers.
            assertionFailure("\(type(of: value)) has no JSON")
            return Array("null".utf8)
        }
    }
}

extension Response {
    /// An answer in JSON. It is about sessions, so no cache may store it.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        json(text: JSONText.of(value), status: status)
    }

    /// An answer whose JSON is there already.
    static func json(text: some Collection<UInt8>, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }
}

/// The entity tag of an answer (RFC 9110, section 8.8.3): a digest of it, so that it is right whatever the answer
/// depends on, the time too.
enum TaggedAnswer {
    /// The answer, or the status 304 if the caller already has it.
    static func answer(_ value: some Encodable, to request: Request) -> Response {
        let text = JSONText.of(value)
        // 96 bits of SHA-256.
        let tag = "\"\(Hexadecimal.text(SHA256.hash(data: text).prefix(12)))\""
        if request.headers[.ifNoneMatch].map({ matches($0, tag) }) == true {
            return Response(status: .notModified, headers: [.eTag: tag, .cacheControl: "no-store"])
        }
        var response = Response.json(text: text)
        response.headers[.eTag] = tag
        return response
    }

    /// Whether a list of tags has this one; weak ones count (section 13.1.2).
    private static func matches(_ list: String, _ tag: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let entry = entry.drop { $0 == " " || $0 == "\t" }
            let bare = entry.hasPrefix("W/") ? entry.dropFirst(2) : entry
            return entry == "*" || bare.prefix(tag.count) == tag
        }
    }
}
