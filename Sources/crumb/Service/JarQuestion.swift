import CookieModel
import Foundation
import RequestDecoration

/// What a service is asked about a jar: the members that its routes know, those that are given.
struct JarQuestion: Encodable {
    var url: String?
    var urls: [String]?
    var method: String?
    var topLevel: String?
    var initiator: String?
    var navigation: Bool?
    /// Whether it is about what a script sees.
    var script: Bool?
    var setCookieBase64: [String]?
    var write: String?
    var verify: Bool?
    var handler: String?
    var format: String?
    var sites: [String]?
    var names: [String]?
    var httpOnly: Bool?
    var session: Bool?
    var reportFirst: Bool?

    init() {}

    /// A question about a request.
    init(about request: RequestContext) {
        describe(request)
        url = request.url.description
    }

    /// A question about the scripts of pages that are alike but for their URLs.
    init(aboutPages pages: [RequestContext]) {
        if let page = pages.first { describe(page) }
        urls = pages.map(\.url.description)
    }

    private mutating func describe(_ request: RequestContext) {
        method = request.method
        topLevel = request.topLevel?.description
        switch request.initiator {
        case .topLevel, .opaque: initiator = nil
        case .user: initiator = "user"
        case .origin(let url): initiator = url.description
        }
        navigation = request.isTopLevelNavigation
    }

    /// The members of a request as parameters of a query.
    var parameters: [(name: String, value: String?)] {
        [
            ("url", url), ("method", method), ("topLevel", topLevel), ("initiator", initiator),
            ("navigation", navigation.map { "\($0)" }),
        ]
    }
}

extension Octets {
    /// The octets in base64.
    var base64: String { Data(self).base64EncodedString() }
}
