import CookieModel

/// The one Cookie header of a request: what the user gave, then what the jar has under other names.
struct CurlCookieHeader {
    /// The field's value; empty where there is nothing to send.
    let value: [UInt8]
    /// The jar's cookies that are in it.
    let cookies: [Cookie]

    /// - Parameters:
    ///   - own: the values of the user's own headers. They win by name.
    init(own: [[UInt8]], jar: [Cookie]) {
        let names = Set(own.flatMap(CurlCookieHeader.names))
        cookies = jar.filter { !names.contains($0.name) }
        var pairs = own
        pairs += cookies.map(\.pair.bytes)
        value = Array(pairs.joined(separator: Array("; ".utf8)))
    }

    /// The line of a configuration file that has curl send it; empty where there is nothing to send.
    var configuration: [UInt8] {
        guard !value.isEmpty else { return [] }
        return CurlOption(name: "header", value: Array("Cookie: ".utf8) + value).configurationLine
    }

    private static func names(_ value: [UInt8]) -> [Octets] {
        value.split(separator: UInt8(ascii: ";")).map { pair in
            let pair = pair.drop(while: InputFile.isWhiteSpace)
            // A pair without an equals sign is a value without a name.
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
            return Octets(Array(pair[..<equals]).trimmed)
        }
    }
}
