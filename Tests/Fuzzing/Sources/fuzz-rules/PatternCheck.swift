import FuzzSupport

@testable import HTTPCaching
@testable import WebPrimitives

/// What holds of any text as the prefix or pattern of a rule.
enum PatternCheck {
    static let urls: [RequestURL] = [
        "https://a.example/", "https://a.example/x/y.js?v=1", "http://a.example:8080/a/b/c", "https://b.a.example/x",
        "https://xn--bcher-kva.example/x.css", "http://127.0.0.1/", "http://[::1]:3000/?q",
        "https://a.example/aaaaaaab",
    ].compactMap { try? RequestURL($0 as String) }

    static func check(_ text: String) {
        guard let pattern = try? URLPattern(text) else { return }
        Invariant.holds(pattern.description == text, "a pattern is shown as it was written")
        Invariant.holds((try? URLPattern(pattern.description)) == pattern, "and read in the same way again")
        Invariant.holds(text.utf8.count <= URLPattern.limit, "a pattern has a limit")
        for url in urls + examples(of: text) {
            guard let expected = literally(text, url) else { continue }
            Invariant.holds(
                pattern.matches(URLPattern.Target(url)) == expected, "a pattern matches as a table of its octets does")
        }
        checkLong(pattern)
    }

    /// URLs that have some word for each star.
    private static func examples(of text: String) -> [RequestURL] {
        ["", "a", "a/b", "ab.a"].compactMap { word in
            let url = text.replacing("*", with: word)
            return try? RequestURL(
                url.hasPrefix("http") ? url : "https://a.example" + (url.hasPrefix("/") ? "" : "/") + url)
        }
    }

    /// Whether a URL is meant; `nil` if that depends on how a host is read.
    private static func literally(_ text: String, _ url: RequestURL) -> Bool? {
        let path = Array(url.path)
        let whole = path + Array(url.query)
        let pattern = Array(text.utf8)
        let star = UInt8(ascii: "*")
        if pattern.first == UInt8(ascii: "/"), !pattern.contains(star) { return whole.starts(with: pattern) }
        if pattern.first == UInt8(ascii: "/") || pattern.first == star {
            return matches(pattern.contains(UInt8(ascii: "?")) ? whole : path, pattern)
        }
        guard !pattern.contains(star), let prefix = try? RequestURL(text) else { return nil }
        return prefix.isSameOrigin(as: url) && whole.starts(with: Array(prefix.path) + Array(prefix.query))
    }

    /// Whether a text is that of a pattern, by a table of all beginnings of both.
    private static func matches(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        // Whether the pattern so far matches the first octets of the text, for each number of them.
        var isMatch = [true] + Array(repeating: false, count: text.count)
        for byte in pattern {
            if byte == UInt8(ascii: "*") {
                for count in isMatch.indices.dropFirst() where isMatch[count - 1] { isMatch[count] = true }
            } else {
                for count in isMatch.indices.dropFirst().reversed() {
                    isMatch[count] = isMatch[count - 1] && text[count - 1] == byte
                }
                isMatch[0] = false
            }
        }
        return isMatch[text.count]
    }

    /// A long URL takes no more steps than pattern and URL have octets, multiplied. More of them are a hang.
    private static func checkLong(_ pattern: URLPattern) {
        for octets in ["a", "/", "ab"] {
            let path = String(repeating: octets, count: 1000)
            guard let url = try? RequestURL("https://a.example/\(path)") else { continue }
            _ = pattern.matches(URLPattern.Target(url))
        }
    }
}
