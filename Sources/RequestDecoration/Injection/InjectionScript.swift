public import CookieModel

/// JavaScript that sets the cookies of one page through `document.cookie`, for a web view or a browser.
///
/// A script cannot carry every cookie: what it leaves out is listed with the reason. It compares `location` with the
/// page it was made for before it sets anything, and it may run more than once.
public struct InjectionScript: Sendable {
    /// Why a script cannot carry a cookie that the page would see.
    public enum Obstacle: String, Sendable, CaseIterable {
        /// Name, value or path is not UTF-8, and a script sets text.
        case octetsNotUTF8 = "octets-not-utf8"
        /// The path cannot be written as an attribute, and is not the page's own default-path.
        case pathNotWritable = "path-not-writable"

        /// One sentence for a person.
        public var explanation: String {
            switch self {
            case .octetsNotUTF8: "its octets are not UTF-8, and a script can set only text"
            case .pathNotWritable: "its path holds a semicolon or is too long for a Path attribute"
            }
        }
    }

    /// A cookie that the script does not carry.
    public struct Omission: Sendable {
        /// The cookie.
        public let cookie: Cookie
        /// Stable identifiers of the reasons: an ``ExclusionReason`` or an ``Obstacle``.
        public let identifiers: [String]
        /// The reasons in words.
        public let explanations: [String]
    }

    /// The script; empty where it would set nothing.
    public let source: String
    /// The cookies it sets, in its order.
    public let cookies: [Cookie]
    /// The cookies of the page's site that it does not set.
    public let omissions: [Omission]

    /// The script for a page, out of what a script of that page may see.
    ///
    /// - Parameters:
    ///   - retrieval: the cookies for the page, retrieved through ``RequestContext/Interface/script``.
    ///   - page: the page.
    public init(_ retrieval: Retrieval, page: RequestURL) {
        var carried: [Cookie] = []
        var assignments: [String] = []
        var omissions: [Omission] = []
        for cookie in retrieval.included {
            switch InjectionScript.assignment(cookie, page: page) {
            case .success(let assignment):
                carried.append(cookie)
                let condition = InjectionScript.condition(cookie, page: page)
                assignments.append("  \(condition)document.cookie = \(JavaScript.stringLiteral(assignment));\n")
            case .failure(let obstacle):
                omissions.append(
                    Omission(
                        cookie: cookie, identifiers: [obstacle.rawValue], explanations: [obstacle.explanation]))
            }
        }
        omissions += retrieval.excluded.map { exclusion in
            Omission(
                cookie: exclusion.cookie, identifiers: exclusion.reasons.identifiers,
                explanations: exclusion.reasons.reasons.map(\.explanation))
        }
        cookies = carried
        self.omissions = omissions
        source = assignments.isEmpty ? "" : InjectionScript.guarded(assignments.joined(), page: page)
    }

    /// The set-cookie-string that makes `cookie` again on `page`.
    private static func assignment(_ cookie: Cookie, page: RequestURL) -> Result<String, Obstacle> {
        guard let name = cookie.name.utf8String, let value = cookie.value.utf8String else {
            return .failure(.octetsNotUTF8)
        }
        // The equals sign stands even without a name: the value may hold one.
        var text = "\(name)=\(value)"
        if isWritable(cookie.path) {
            guard let path = cookie.path.utf8String else { return .failure(.octetsNotUTF8) }
            text += "; Path=\(path)"
        } else if cookie.path != CookiePolicy.defaultPath(page.path) {
            return .failure(.pathNotWritable)
        }
        if !cookie.isHostOnly { text += "; Domain=\(cookie.domain)" }
        if let expiry = cookie.expiry { text += "; Expires=\(expiry.httpDate)" }
        if cookie.isSecure { text += "; Secure" }
        if let sameSite = cookie.sameSite.attributeValue { text += "; SameSite=\(sameSite)" }
        if cookie.id.partitionKey != nil { text += "; Partitioned" }
        return .success(text)
    }

    /// What must hold for an assignment: a path that cannot be written comes from the page's own, so that only that
    /// very page may set the cookie.
    private static func condition(_ cookie: Cookie, page: RequestURL) -> String {
        guard !isWritable(cookie.path) else { return "" }
        let path = JavaScript.stringLiteral(String(decoding: page.path, as: UTF8.self))
        return "if (typeof location === \"undefined\" || location.pathname === \(path)) "
    }

    /// Whether a Path attribute can say this path: a default-path may hold what an attribute cannot.
    private static func isWritable(_ path: Octets) -> Bool {
        path.count <= SetCookie.attributeValueLimit && !path.contains(UInt8(ascii: ";"))
    }

    private static func guarded(_ body: String, page: RequestURL) -> String {
        // Only a page has a `location`; a script that is run without one has been run on purpose.
        """
        (function () {
          if (typeof location !== "undefined" && (location.protocol !== \(JavaScript.stringLiteral(page.scheme.name + ":")) \
        || location.hostname !== \(JavaScript.stringLiteral(page.host.description)))) return;
        \(body)})();

        """
    }
}

extension InjectionScript.Obstacle: Error {}
