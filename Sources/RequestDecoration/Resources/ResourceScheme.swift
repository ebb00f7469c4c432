package import CookieModel

/// The URL schemes by which one web view loads resources from the app: a name that no other page or app knows.
///
/// `https://www.example.com/a.png` becomes `crumb-TOKEN-https://www.example.com/a.png`. Host, path and query stay, so
/// relative references in style sheets and modules lead to the same scheme.
public struct ResourceScheme: Sendable, Hashable {
    /// What the names begin with. The scheme of the resource follows.
    package let prefix: String

    /// Creates the schemes of one web view, with a random name.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.init(token: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    init(token: [UInt8]) {
        prefix = "crumb-\(Hexadecimal.text(token))-"
    }

    /// The names to register a handler for: one for resources over https, and one for http.
    public var names: [String] { ["\(prefix)https", "\(prefix)http"] }

    /// The URL by which a page loads a resource from the app; `nil` for a WebSocket.
    package func schemeURL(for url: RequestURL) -> String? {
        switch url.scheme {
        case .http, .https: prefix + url.description
        case .ws, .wss: nil
        }
    }

    /// The URL of the resource; `nil` if the text has another scheme, or user information.
    package func url(from text: String) -> RequestURL? {
        // Engines write schemes in lower case.
        guard text.hasPrefix(prefix) else { return nil }
        let rest = text.dropFirst(prefix.count)
        guard rest.hasPrefix("https://") || rest.hasPrefix("http://"), !ResourceScheme.hasUserInformation(rest),
            let url = try? RequestURL(String(rest))
        else { return nil }
        return url
    }

    private static func hasUserInformation(_ text: Substring) -> Bool {
        guard let start = text.firstRange(of: "://")?.upperBound else { return false }
        return text[start...].utf8.prefix { !"/\\?#".utf8.contains($0) }.contains(ASCII.at)
    }
}
