import WebPrimitives

/// The URLs that a rule is for: a prefix, or a pattern with `*`.
///
/// | text | URLs |
/// | --- | --- |
/// | `https://shop.example/api/` | those of this origin whose path begins so |
/// | `https://*.shop.example/api/` | `*` stands for any octets; in the host, for any but `/` |
/// | `https://*.shop.example/*.json` | a path with stars matches as a whole |
/// | `*.woff2` | those of every origin whose path matches as a whole |
package struct URLPattern: Sendable, Hashable, CustomStringConvertible {
    /// The most octets of a pattern.
    static let limit = 500

    /// The pattern as it was written.
    package let description: String
    /// Scheme and authority, with stars; `nil` for every origin.
    private let origin: Octets?
    private let path: Octets
    private let isPrefix: Bool

    /// Reads a prefix or pattern.
    ///
    /// - Throws: ``CachingRulesError/Reason/patternInvalid`` if the text is neither an absolute http or https URL nor a
    ///   path that begins with `/` or `*`, or has more than 500 octets.
    init(_ text: String) throws(CachingRulesError.Reason) {
        guard text.utf8.count <= Self.limit else { throw .patternInvalid }
        description = text
        let octets = Octets(text)
        if !octets.contains(Self.star), text.utf8.first != ASCII.slash {
            // The URL's own parser brings a prefix into the form that requests have.
            guard let url = try? RequestURL(text), url.scheme == .http || url.scheme == .https
            else { throw .patternInvalid }
            origin = Octets(url.origin)
            path = Octets(url.path.bytes + url.query.bytes)
        } else if octets.first == ASCII.slash || octets.first == Self.star {
            origin = nil
            path = octets
        } else {
            guard text.hasPrefix("https://") || text.hasPrefix("http://") else { throw .patternInvalid }
            let hostStart = text.hasPrefix("https") ? 8 : 7
            let end = octets[hostStart..<octets.count].firstIndex(of: ASCII.slash).map { $0 + hostStart }
            guard let end, end > hostStart, let canonical = Self.canonicalOrigin(octets[0..<end])
            else { throw .patternInvalid }
            origin = canonical
            path = octets[end..<octets.count]
        }
        // Without a star, a path is the beginning of those that are meant: a rule for `/account/` holds below it.
        isPrefix = !path.contains(Self.star)
    }

    /// An origin with stars in the form that requests have; `nil` if it is none with any octets for the stars.
    private static func canonicalOrigin(_ text: Octets) -> Octets? {
        let anyPort: Octets = ":*"
        let hasAnyPort = text.count > anyPort.count && text[(text.count - anyPort.count)..<text.count] == anyPort
        let host = hasAnyPort ? text[0..<(text.count - anyPort.count)] : text
        // The URL's own parser reads a host that has a word for each star.
        let words = String(decoding: host, as: UTF8.self).replacing("*", with: word)
        guard let origin = (try? RequestURL(words + "/"))?.origin else { return nil }
        // A star within an international label has no place in its ASCII form.
        let labels = origin.split { $0 == "." || $0 == "/" }
        guard !labels.contains(where: { $0.hasPrefix("xn--") && $0.contains(word) }) else { return nil }
        let pattern = origin.replacing(word, with: "*")
        guard pattern.utf8.count(where: { $0 == star }) == host.count(where: { $0 == star }) else { return nil }
        return Octets(pattern + (hasAnyPort ? ":*" : ""))
    }

    /// A word that no host contains.
    private static let word = "crumb0star0crumb"

    /// The parts of a URL that patterns are compared with.
    struct Target {
        let origin: Octets
        let path: Octets
        let pathAndQuery: Octets

        init(_ url: RequestURL) {
            origin = Octets(url.origin)
            path = url.path
            pathAndQuery = Octets(url.path.bytes + url.query.bytes)
        }
    }

    /// Whether a URL is meant.
    ///
    /// For one pattern, linear in the number of octets of the URL.
    func matches(_ target: Target) -> Bool {
        if let origin, !Self.matches(target.origin, origin) { return false }
        if isPrefix { return target.pathAndQuery.starts(with: path) }
        // Without a question mark, the pattern is one of paths.
        return Self.matches(path.contains(ASCII.questionMark) ? target.pathAndQuery : target.path, path)
    }

    private static let star = UInt8(ascii: "*")

    /// Whether a text is that of a pattern: finds each piece between stars as early as possible.
    private static func matches(_ text: Octets, _ pattern: Octets) -> Bool {
        var textPosition = 0
        var patternPosition = 0
        var retry: (text: Int, pattern: Int)?
        while textPosition < text.count {
            if patternPosition < pattern.count, pattern[patternPosition] == star {
                patternPosition += 1
                retry = (textPosition, patternPosition)
            } else if patternPosition < pattern.count, pattern[patternPosition] == text[textPosition] {
                textPosition += 1
                patternPosition += 1
            } else if let last = retry {
                // The last star takes one octet more.
                retry = (last.text + 1, last.pattern)
                (textPosition, patternPosition) = (last.text + 1, last.pattern)
            } else {
                return false
            }
        }
        return pattern[patternPosition..<pattern.count].allSatisfy { $0 == star }
    }
}
