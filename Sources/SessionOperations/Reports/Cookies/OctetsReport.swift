package import CookieModel
import Foundation

/// Octets in JSON: text where they are UTF-8, base64 beside it where they are not.
package struct OctetsReport: Codable {
    package let text: String?
    package let base64: String?

    package init(_ octets: Octets) {
        text = octets.utf8String
        base64 = text == nil ? Data(octets).base64EncodedString() : nil
    }

    /// Octets as a report has them.
    package init(text: String?, base64: String?) {
        self.text = text
        self.base64 = base64
    }

    /// The octets; none where there is neither.
    package var octets: Octets {
        if let text { return Octets(text) }
        return Octets(Array(base64.flatMap { Data(base64Encoded: $0) } ?? Data()))
    }
}
