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
}
