import CookieModel
import OAuth2
import WebPrimitives

/// A proxy that connections are made through.
struct Proxy: Sendable {
    /// The protocol of the proxy.
    enum Kind: Sendable {
        /// HTTP's CONNECT method (RFC 9110, section 9.3.6).
        case http
        /// SOCKS version 5 (RFC 1928). The proxy looks up the name.
        case socks5
    }

    let kind: Kind
    /// A name, or an address without brackets.
    let host: String
    let port: Int
    /// User name and password with a colon in between, as in the URL; `nil` for none.
    let credentials: Secret?

    /// Where it is, without the credentials.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Reads `http://HOST:PORT`, `http://USER:PASSWORD@HOST:PORT`, `socks5://HOST:PORT` or `HOST:PORT`.
    ///
    /// - Parameter name: the option or variable that the text is from.
    /// - Throws: `ProxyError` with the text to write instead. It does not repeat the given text, which may contain a
    ///   password.
    init(_ text: String, from name: String) throws(ProxyError) {
        let (scheme, rest) = Proxy.split(text[...], at: "://").map { ($0.lowercased(), $1) } ?? ("http", text[...])
        switch scheme {
        case "http": kind = .http
        case "socks5", "socks5h": kind = .socks5
        case "https":
            throw ProxyError("\(name): a proxy over TLS is not supported; write http://HOST:PORT")
        default:
            throw ProxyError(
                "\(name): this kind of proxy is not supported; write http://HOST:PORT or socks5://HOST:PORT")
        }
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        let at = authority.lastIndex(of: "@")
        let place = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard let colon = place.lastIndex(of: ":"), let port = UInt16(place[place.index(after: colon)...]), port > 0,
            let host = WebHost(String(place[..<colon]))
        else { throw ProxyError("\(name): a proxy needs a host and a port; write http://HOST:PORT") }
        self.host = host.unbracketed
        self.port = Int(port)
        guard let at else {
            credentials = nil
            return
        }
        guard kind == .http else {
            throw ProxyError("\(name): a SOCKS proxy with a password is not supported; write socks5://HOST:PORT")
        }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = PercentEncoding.text(parts[0]),
            let password = PercentEncoding.text(parts.dropFirst().first ?? "")
        else { throw ProxyError("\(name): the user name and password of the proxy are not percent-encoded UTF-8") }
        credentials = Secret("\(user):\(password)")
    }

    private static func split(_ text: Substring, at separator: String) -> (Substring, Substring)? {
        text.firstRange(of: separator).map { (text[..<$0.lowerBound], text[$0.upperBound...]) }
    }
}

/// Why a proxy cannot be used: a sentence without its credentials.
struct ProxyError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Which requests go through which proxy, as the environment says for curl and most other programs.
struct ProxySettings: Sendable {
    private let environment: [String: String]

    /// Creates the settings of an environment. `CRUMB_PROXY` takes precedence over the variables of other programs; if
    /// it is empty, there is no proxy.
    init(environment: [String: String]) {
        self.environment = environment
    }

    /// The proxy for requests to a URL; `nil` if they go there directly.
    ///
    /// This machine is never reached through a proxy.
    func proxy(for url: RequestURL) throws(ProxyError) -> Proxy? {
        guard !url.host.isLoopback, let (name, text) = setting(isEncrypted: url.scheme.isCryptographic) else {
            return nil
        }
        if let exceptions = value("no_proxy") ?? value("NO_PROXY"), ProxySettings.isExempt(url.host, by: exceptions) {
            return nil
        }
        return try Proxy(text, from: name)
    }

    /// Checks that every proxy that is set can be used.
    func check() throws(ProxyError) {
        for isEncrypted in [true, false] {
            if let (name, text) = setting(isEncrypted: isEncrypted) { _ = try Proxy(text, from: name) }
        }
    }

    private func setting(isEncrypted: Bool) -> (name: String, text: String)? {
        if let text = environment["CRUMB_PROXY"] { return text.isEmpty ? nil : ("--proxy", text) }
        // Not HTTP_PROXY: to a CGI program that is a field of the request, `Proxy`, which anyone can send.
        let names = (isEncrypted ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        return names.lazy.compactMap { name in value(name).map { (name: name, text: $0) } }.first
    }

    private func value(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether a host is reached without a proxy, by the rules of curl for `NO_PROXY`: `*` for every host, or a list with
    /// commas or blanks of hosts, each with all hosts below it, with or without a dot in front, of IP addresses and of
    /// ranges such as `10.0.0.0/8`.
    static func isExempt(_ host: WebHost, by list: String) -> Bool {
        let entries = list.split { $0 == "," || $0.isWhitespace }
        if entries == ["*"] { return true }
        guard host.kind == .domain else {
            let address = host.addressOctets
            return entries.contains { contains(address, $0) }
        }
        let name = withoutDots(host.unbracketed)
        return entries.contains { entry in
            let entry = withoutDots(WebHost(String(withoutDots(entry))).map(\.unbracketed) ?? entry.lowercased())
            return !entry.isEmpty && name.hasSuffix(entry)
                && (name.count == entry.count || name.dropLast(entry.count).last == ".")
        }
    }

    /// Whether an address is the one of an entry, or in its range.
    private static func contains(_ address: [UInt8], _ entry: Substring) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0].filter { $0 != "[" && $0 != "]" }
        let network = WebHost(place.contains(":") ? "[\(place)]" : place)?.addressOctets ?? []
        guard !address.isEmpty, network.count == address.count else { return false }
        guard parts.count == 2 else { return address == network }
        guard let count = Int(parts[1]), (0...8 * address.count).contains(count) else { return false }
        let (whole, bits) = (count / 8, count % 8)
        guard address.prefix(whole) == network.prefix(whole) else { return false }
        return bits == 0 || (address[whole] ^ network[whole]) >> (8 - UInt8(bits)) == 0
    }

    private static func withoutDots(_ name: some StringProtocol) -> String {
        String((name.hasPrefix(".") ? name.dropFirst() : name[...]).reversed().drop { $0 == "." }.reversed())
    }
}
