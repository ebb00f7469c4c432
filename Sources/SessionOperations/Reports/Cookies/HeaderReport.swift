package import CookieModel
import Foundation
package import RequestDecoration

/// The Cookie header in JSON.
package struct HeaderReport: Codable {
    package let url: String
    package let cookie: String?
    package let cookieBase64: String
    package let names: [String]
    /// Cookies that stay behind because their value cannot be read back, which is said and not printed.
    package private(set) var unreadable: [CookieIdentityReport] = []
    /// The header fields of the jar that go with it; only where they were asked for.
    package private(set) var fields: [HeaderFieldReport]?
    /// Header fields that stay behind because their value cannot be read back.
    package private(set) var damagedFields: [HeaderFieldReport] = []

    private enum CodingKeys: CodingKey {
        case url, cookie, cookieBase64, names, fields
    }

    /// What a request carries; nothing where nothing is kept at all.
    package init(url: String, retrieval: Retrieval?) {
        let unreadable = retrieval?.excluded.filter { $0.reasons.contains(.unreadable) } ?? []
        self.init(
            url: url, cookieString: retrieval?.cookieString ?? [],
            names: retrieval?.included.map(\.name.description) ?? [],
            unreadable: unreadable.map { CookieIdentityReport($0.cookie) })
    }

    /// The report from its parts.
    package init(url: String, cookieString: Octets, names: [String], unreadable: [CookieIdentityReport]) {
        self.url = url
        cookie = cookieString.utf8String
        cookieBase64 = Data(cookieString).base64EncodedString()
        self.names = names
        self.unreadable = unreadable
    }

    /// Adds the header fields of the jar.
    package mutating func add(_ selection: FieldSelection) {
        add(
            selection.sent.map { HeaderFieldReport($0) },
            damaged: selection.omitted.filter { $0.reason == .unreadable }.map {
                HeaderFieldReport(name: $0.name, scope: $0.scope, value: nil, isDamaged: true)
            })
    }

    /// Adds header fields, those that go and those that cannot be read back.
    package mutating func add(_ fields: [HeaderFieldReport], damaged: [HeaderFieldReport]) {
        self.fields = fields
        damagedFields = damaged
    }

    /// The octets of the header's value; none where there is nothing to send.
    package var cookieString: Octets { OctetsReport(text: cookie, base64: cookieBase64).octets }
}
