import Foundation

/// A line of JSON with a body behind it, as `crumb` and `crumb-network` send it to each other.
package struct HelperMessage<Head: Codable> {
    package let head: Head
    package let body: [UInt8]

    package init(_ head: Head, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }

    /// Reads a message that is complete; `nil` where it is none.
    package init?(parsing bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head.self, from: Data(bytes[..<end]))
        else { return nil }
        self.init(head, body: Array(bytes[(end + 1)...]))
    }

    /// The message's bytes. JSON as it is written here has no line feeds.
    package var bytes: [UInt8] {
        get throws {
            Array(try JSONEncoder().encode(head)) + [UInt8(ascii: "\n")] + body
        }
    }
}
