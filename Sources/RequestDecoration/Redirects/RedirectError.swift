package import CookieModel

/// Why a chain of redirects ended without an answer: a stable code, the origin that redirected, one sentence a user can
/// act on.
///
/// Holds no path and no query, which may be as good as a password.
public struct RedirectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The Location is no URL that can be requested.
        public static let locationInvalid = Code(rawValue: "redirect-location-invalid")
        /// There are more redirects than are followed, and none led back to where the chain had been.
        public static let tooMany = Code(rawValue: "redirect-too-many")
        /// There are more redirects than are followed, since they lead back to where the chain had been.
        public static let loop = Code(rawValue: "redirect-loop")
        /// The next request needs the body once more, which can be sent only once.
        public static let bodyNotRepeatable = Code(rawValue: "redirect-body-not-repeatable")
    }

    /// Why.
    public let code: Code
    /// The origin that redirected.
    public let origin: String
    let detail: String

    package init(_ code: Code, _ url: RequestURL, _ detail: String) {
        self.code = code
        origin = url.origin
        self.detail = detail
    }

    /// The error of a chain whose present request needs a body that can be sent only once.
    package init(bodyNotRepeatableIn chain: RedirectChain) {
        self.init(
            .bodyNotRepeatable, chain.referrer ?? chain.context.url,
            "redirects and wants the body once more; give it as data, not as a stream")
    }

    /// One sentence that names the origin and what to do.
    public var description: String { "\(origin): \(detail)" }
}
