import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

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
    /// An answer in JSON. It is about sessions, so nobody on the way keeps it.
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
