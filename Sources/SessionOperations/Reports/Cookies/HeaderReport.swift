package import CookieModel
import Foundation

/// The Cookie header in JSON.
package struct HeaderReport: Codable {
    package let url: String
    package let cookie: String?
    package let cookieBase64: String
    package let names: [String]

    package init(url: String, retrieval: Retrieval?) {
        let octets = retrieval?.cookieString ?? []
        self.url = url
        cookie = octets.utf8String
        cookieBase64 = Data(octets).base64EncodedString()
        names = retrieval?.included.map(\.name.description) ?? []
    }
}
