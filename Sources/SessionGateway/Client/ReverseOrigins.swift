import HTTPMessages
import WebPrimitives

/// The sites that a gateway serves at local addresses, as one of its listeners sees them.
///
/// A client that cannot use a proxy opens `http://127.0.0.1:8080` and gets `https://shop.example`. Only these sites are
/// served, and only to their own pages: a page in the user's everyday browser must not use the session.
struct ReverseOrigins: Sendable {
    /// A site and its local port.
    struct Site: Sendable {
        let url: RequestURL
        let port: Int

        /// The server of the site.
        var destination: ForwardedRequest.Destination {
            ForwardedRequest.Destination(host: url.host, port: url.port, isEncrypted: url.scheme.isCryptographic)
        }
    }

    let sites: [Site]
    /// The site of this listener.
    let site: Site

    /// The names by which clients reach a listener of this machine.
    private static let names: Set<Octets> = ["127.0.0.1", "localhost", "[::1]"]

    /// Checks a request, and changes it to the one that the site's own page would send.
    ///
    /// - Returns: The request's head with the site's host and origins, and the mapping for the response.
    /// - Throws: `GatewayFailure` for a request that names another host, or that another site's page has sent.
    func request(
        _ head: MessageHead, _ line: RequestLine
    ) throws(GatewayFailure) -> (head: MessageHead, mapping: OriginMapping) {
        switch line.form {
        case .origin, .asterisk: break
        case .absolute, .authority:
            throw GatewayFailure(
                .httpRequestError, 400, "this address offers \(site.url.origin) and is not a proxy",
                nextStep: "Open http://127.0.0.1:\(site.port)/ without a proxy.")
        }
        let hosts = head.values("host")
        guard hosts.count == 1 else { throw GatewayFailure.requestInvalid(.hostInvalid) }
        guard let name = name(in: hosts[0]) else {
            throw GatewayFailure(
                .httpRequestDenied, 421, "the request names a host that this address does not offer",
                nextStep: "Open http://127.0.0.1:\(site.port)/, or http://localhost:\(site.port)/.")
        }
        let mapping = OriginMapping(sites, at: name)
        guard isOfOwnPage(head, mapping) else {
            throw GatewayFailure(
                .httpRequestDenied, 403, "a page of another site has sent the request, which would use the session",
                nextStep:
                    "Open the address itself. If the page is part of the app, name its origin with --upstream too.")
        }
        var octets = Array(head.octets[head.startLine])
        octets += [ASCII.carriageReturn, ASCII.lineFeed]
        for field in head.fields {
            let value = Octets(head.octets, in: field.value)
            switch head.lowercasedName(field) {
            case "host": octets.append(field: head.octets[field.name], Octets(site.authority))
            case "origin", "referer": octets.append(field: head.octets[field.name], mapping.remote(value))
            default: octets.append(line: head.octets[field.line])
            }
        }
        octets += [ASCII.carriageReturn, ASCII.lineFeed]
        do {
            return (try MessageHead(octets, from: .client), mapping)
        } catch {
            throw GatewayFailure.requestInvalid(error)
        }
    }

    /// The name by which the client has reached this listener; `nil` if it is the name of another host (DNS rebinding).
    private func name(in host: Octets) -> Octets? {
        ReverseOrigins.names.first { host.lowercased == Octets(Array($0) + site.portSuffix) }
    }

    /// Whether the user or a page of these sites has sent the request.
    private func isOfOwnPage(_ head: MessageHead, _ mapping: OriginMapping) -> Bool {
        let origins = head.values("origin")
        let pages = origins + head.values("referer")
        guard pages.allSatisfy(mapping.isLocal) else { return false }
        // If no page is named, only these values show that no page of another site has sent the request.
        let site = head.values("sec-fetch-site").first
        return !pages.isEmpty && site != "cross-site" || [nil, "none", "same-origin"].contains(site)
    }
}

extension ReverseOrigins.Site {
    /// The end of the gateway's own authority.
    fileprivate var portSuffix: [UInt8] { port == 80 ? [] : Array(":\(port)".utf8) }

    /// Host and port as the Host field has them.
    fileprivate var authority: String {
        url.port == url.scheme.defaultPort ? url.host.description : "\(url.host.description):\(url.port)"
    }
}

/// The gateway's origins and those of the sites that they stand for, for one request and its response.
struct OriginMapping: Sendable {
    private struct Pair {
        let local: [UInt8]
        /// The possible spellings of the site's origin, the usual one last.
        let remote: [[UInt8]]
    }

    /// The response fields whose URLs the client follows.
    static let responseFields: Set<String> = [
        "location", "content-location", "refresh", "link", "access-control-allow-origin", "timing-allow-origin",
        "content-security-policy", "content-security-policy-report-only", "sourcemap",
    ]

    private let pairs: [Pair]
    /// As in `//shop.example/`, a reference without a scheme.
    private let authorities: [Pair]

    /// - Parameter name: The name by which the client has reached the gateway.
    init(_ sites: [ReverseOrigins.Site], at name: Octets) {
        let name = Array(name)
        func forms(_ scheme: String, _ site: ReverseOrigins.Site) -> [[UInt8]] {
            let host = "\(scheme)//\(site.url.host.description)"
            let explicit = Array("\(host):\(site.url.port)".utf8)
            return site.url.port == site.url.scheme.defaultPort ? [explicit, Array(host.utf8)] : [explicit]
        }
        func pair(_ local: String, _ remote: String, _ site: ReverseOrigins.Site) -> Pair {
            Pair(local: Array("\(local)//".utf8) + name + site.portSuffix, remote: forms(remote, site))
        }
        pairs = sites.flatMap { site in
            let isEncrypted = site.url.scheme.isCryptographic
            return [
                pair("http:", isEncrypted ? "https:" : "http:", site), pair("ws:", isEncrypted ? "wss:" : "ws:", site),
            ]
        }
        authorities = sites.map { pair("", "", $0) }
    }

    /// Whether a URL or an origin is one of the gateway's.
    func isLocal(_ value: Octets) -> Bool {
        let value = Array(value)
        return pairs.contains { OriginMapping.matches($0.local, value, at: 0) }
    }

    /// Replaces the gateway's origins by those of the sites, in a value of a request.
    func remote(_ value: Octets) -> Octets {
        OriginMapping.replacing(Array(value), pairs.compactMap { pair in pair.remote.last.map { (pair.local, $0) } })
    }

    /// Replaces the sites' origins by those of the gateway, in a value of a response.
    func local(_ value: Octets) -> Octets {
        let value = Array(value)
        let replacements = { (pairs: [Pair]) in pairs.flatMap { pair in pair.remote.map { ($0, pair.local) } } }
        if value.starts(with: "//".utf8) {
            for (origin, replacement) in replacements(authorities) where OriginMapping.matches(origin, value, at: 0) {
                return Octets(replacement + value[origin.count...])
            }
        }
        return OriginMapping.replacing(value, replacements(pairs))
    }

    /// A Set-Cookie line for the gateway's own origin.
    ///
    /// That origin has another host than the site, and no TLS. Browsers that trust the local machine accept a name with
    /// a prefix only with Secure.
    func local(setCookie line: Octets) -> Octets {
        var parts = line.split(separator: ASCII.semicolon, omittingEmptySubsequences: false).map { Array($0) }
        let isPrefixed = Octets(parts[0]).trimmingBlanks.starts(with: "__".utf8)
        parts[1...].removeAll { part in
            let pair = part.split(separator: ASCII.equals, maxSplits: 1).map {
                Octets(Array($0)).trimmingBlanks.lowercased
            }
            return switch pair.first {
            case "domain", "partitioned": true
            case "secure": !isPrefixed
            case "samesite": !isPrefixed && pair.last == "none"
            default: false
            }
        }
        return Octets(Array(parts.joined(separator: [ASCII.semicolon])))
    }

    private static func replacing(_ value: [UInt8], _ origins: [(from: [UInt8], to: [UInt8])]) -> Octets {
        var result: [UInt8] = []
        result.reserveCapacity(value.count)
        var index = 0
        while index < value.count {
            if let origin = origins.first(where: { matches($0.from, value, at: index) }) {
                result += origin.to
                index += origin.from.count
            } else {
                result.append(value[index])
                index += 1
            }
        }
        return Octets(result)
    }

    /// Whether an origin is at a position, and is not only the beginning of another origin.
    private static func matches(_ origin: [UInt8], _ value: [UInt8], at index: Int) -> Bool {
        guard value.count - index >= origin.count else { return false }
        for offset in origin.indices where ASCII.lowercased(value[index + offset]) != origin[offset] { return false }
        guard index + origin.count < value.count else { return true }
        switch value[index + origin.count] {
        case ASCII.slash, ASCII.questionMark, ASCII.numberSign, ASCII.space, ASCII.comma, ASCII.semicolon,
            UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"):
            return true
        default: return false
        }
    }
}
