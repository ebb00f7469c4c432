import CookieModel
import HTTPCaching
import HTTPMessages
import RequestDecoration
import WebPrimitives

/// A client's request, checked and ready to be sent on.
struct ForwardedRequest: Sendable {
    /// The server that a request goes to.
    struct Destination: Sendable, Hashable {
        let host: WebHost
        let port: UInt16
        /// Whether the server uses TLS.
        var isEncrypted = false

        /// The scheme of its URLs.
        var scheme: String { isEncrypted ? "https" : "http" }

        /// Host and port as in a URL.
        var description: String { "\(host.description):\(port)" }
    }

    let head: MessageHead
    let line: RequestLine
    /// The URL in canonical form, for the cookie rules. The server gets the octets of the original target.
    let url: RequestURL
    let destination: Destination
    let framing: BodyFraming
    /// Whether it is sent through a tunnel if a proxy is in front of the server.
    let isTunnelled: Bool
    /// The gateway's origins, for the response of a site that is served at one of them; `nil` in a proxy.
    let mapping: OriginMapping?
    /// The client's policy for this request, from a field that only the gateway reads.
    let cachePolicy: RequestCachePolicy
    /// The authority for the Host field, as the client wrote it.
    private let authority: [UInt8]
    /// The part of the request target after the authority.
    private let path: [UInt8]

    /// Checks a request in absolute form, or one in origin form for the server that a tunnel or an address stands for.
    ///
    /// - Parameters:
    ///   - tunnel: The destination of the tunnel, or the site's server; `nil` outside of both.
    ///   - mapping: The gateway's origins if it serves the site at a local address.
    init(
        _ head: MessageHead, _ line: RequestLine, through tunnel: Destination?, mapping: OriginMapping? = nil
    ) throws(MessageError) {
        let text = head.octets[head.startLine]
        let hosts = head.values("host")
        // RFC 6455, section 11.3.1: two keys would have two answers.
        guard head.values("sec-websocket-key").count < 2 else { throw .keyRepeated }
        guard hosts.count < 2, line.minorVersion == 0 || hosts.count == 1 else { throw .hostInvalid }
        cachePolicy = try ForwardedRequest.cachePolicy(of: head)
        let hostField = try hosts.first.map { value throws(MessageError) in
            guard let host = Authority(value) else { throw .hostInvalid }
            return host
        }
        switch (line.form, tunnel) {
        case (.absolute(let scheme, let authority, let rest), nil):
            let written = Octets(text[inside: authority])
            guard text[inside: scheme].lowercasedEquals("http"),
                let target = written == hosts.first ? hostField : Authority(written)
            else { throw .targetInvalid }
            destination = Destination(host: target.host, port: target.port ?? 80)
            path = Array(text[inside: rest])
            // RFC 9112, section 3.2.2: a proxy ignores the Host field of a request in absolute form.
            self.authority = target.octets(as: hostField == target ? hosts.first ?? [] : written)
        case (.origin, .some(let tunnel)), (.asterisk, .some(let tunnel)):
            // With another host than the tunnel's, the request would belong to another site.
            guard
                hostField.map({ $0.host == tunnel.host && $0.port ?? (tunnel.isEncrypted ? 443 : 80) == tunnel.port })
                    ?? true
            else { throw .hostInvalid }
            destination = tunnel
            path = Array(text.dropFirst(line.target.lowerBound).prefix(line.target.count))
            authority =
                hosts.first.flatMap { host in Authority(host)?.octets(as: host) } ?? Array(tunnel.description.utf8)
        default: throw .targetInvalid
        }
        let isAsterisk = path.first == UInt8(ascii: "*")
        guard
            let url = try? RequestURL(
                Octets(Array("\(destination.scheme)://\(destination.description)".utf8) + (isAsterisk ? [] : path)))
        else { throw .targetInvalid }
        self.url = url
        isTunnelled = tunnel != nil && (mapping == nil || destination.isEncrypted)
        self.mapping = mapping
        self.head = head
        self.line = line
        framing = try BodyFraming(ofRequest: head, minorVersion: line.minorVersion)
    }

    /// The policy that a request's field names; the protocol's if there is no such field.
    private static func cachePolicy(of head: MessageHead) throws(MessageError) -> RequestCachePolicy {
        let names = head.values("crumb-cache-policy")
        guard let name = names.first else { return .useProtocolCachePolicy }
        guard names.count == 1, let policy = RequestCachePolicy(rawValue: String(decoding: name, as: UTF8.self))
        else { throw .cachePolicyInvalid }
        return policy
    }

    /// The method, which is case-sensitive.
    var method: String { String(decoding: head.octets[head.startLine][inside: line.method], as: UTF8.self) }

    /// Whether the client keeps the connection open for another request.
    var keepsConnection: Bool {
        line.minorVersion > 0 && !head.members("connection").contains("close")
            && !head.members("proxy-connection").contains("close")
    }

    /// Whether the client requests another protocol on the connection, as a WebSocket's handshake does.
    var isUpgrade: Bool {
        // RFC 9110, section 7.8: in HTTP/1.0, the field is ignored.
        line.minorVersion > 0 && head.has("upgrade") && head.members("connection").contains("upgrade")
    }

    /// Whether the client waits for permission to send the body (RFC 9110, section 10.1.1).
    var expectsPermission: Bool { line.minorVersion > 0 && head.members("expect").contains("100-continue") }

    /// How often an OPTIONS request may still be forwarded (RFC 9110, section 7.6.2); `nil` if it does not state a
    /// limit.
    var forwardsLeft: Int? {
        guard method == "OPTIONS" else { return nil }
        let values = head.values("max-forwards")
        guard values.count == 1, values[0].count <= 9, values[0].allSatisfy(ASCII.isDigit) else { return nil }
        return Int(String(decoding: values[0], as: UTF8.self))
    }

    /// Whether the client reads trailer fields after the body of a response (RFC 9110, section 10.1.4).
    var acceptsTrailers: Bool { head.members("te").contains("trailers") }

    /// Whether the method is safe (RFC 9110, section 9.2.1), and there is no body. Idempotent methods that are not safe
    /// do not suffice: the second response to a successful DELETE reports that nothing exists.
    var mayBeRepeated: Bool { framing == .none && RequestContext.isSafe(method) }

    /// Whether a browser has probably sent it: other programs do not state the origin of a request. Node's fetch has a
    /// Sec-Fetch-Mode field, but no other of these fields.
    var isOfBrowser: Bool {
        head.fields.contains { field in
            head.isNamed("origin", field) || head.isNamed("sec-fetch-site", field)
                || head.isNamed("sec-fetch-dest", field) || head.isNamed("upgrade-insecure-requests", field)
                || head.isNamed("referer", field) && !isOfSameHost(Octets(head.octets, in: field.value))
        }
    }

    /// The prefixes of the User-Agent fields of programs that are not browsers, in lower case.
    private static let programs = [
        "aiohttp", "apache-httpclient", "axios", "curl/", "git/", "go-http-client/", "got (", "guzzlehttp/", "httpie/",
        "java", "libwww-perl/", "lwp", "node", "okhttp/", "php", "postmanruntime/", "python", "ruby", "undici", "wget",
        "xh/",
    ]

    /// The name of the program that has sent it, if it is clearly not a browser; `nil` if it may be one.
    var programName: String? {
        guard !isOfBrowser else { return nil }
        let agent = head.values("user-agent").first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let lowercased = agent.lowercased()
        guard ForwardedRequest.programs.contains(where: lowercased.hasPrefix) else { return nil }
        // A product (RFC 9110, section 10.1.5), which needs no quoting.
        return String(agent.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./".contains($0)) }.prefix(40))
    }

    private func isOfSameHost(_ referrer: Octets) -> Bool {
        (try? RequestURL(referrer))?.host == url.host
    }

    /// The fields of a cache's names that the server gets instead of the client's own; `nil` if it gets the client's.
    var cacheFields: [MessageFields.Field]?

    private static let cacheFieldNames: Set<String> = [
        "if-none-match", "if-modified-since", "if-range", "range", "cache-control", "pragma",
    ]

    /// Whether a cache may replace a field.
    static func isCacheField(_ field: MessageFields.Field) -> Bool {
        cacheFieldNames.contains(String(decoding: field.name.lowercased, as: UTF8.self))
    }

    /// Whether the server gets the path and query of ``url``. Otherwise two requests with one URL may have different
    /// responses.
    var hasCanonicalTarget: Bool { path.isEmpty || path == url.path.bytes + url.query.bytes }

    /// Whether to accept only content codings in which a recording can find secrets.
    var needsReadableCoding = false

    /// The content codings of a list that a recording can decode; `identity` if there are none.
    private static func readableCodings(_ value: Octets) -> Octets {
        let members = value.split(separator: ASCII.comma).map { Octets(Array($0)).trimmingBlanks }
        let readable = members.filter { member in
            let name = Octets(Array(member.prefix { $0 != ASCII.semicolon })).trimmingBlanks.lowercased
            return ["gzip", "x-gzip", "deflate", "identity"].contains(name)
        }
        guard !readable.isEmpty else { return "identity" }
        return readable == members ? value : Octets(Array(readable.map(\.bytes).joined(separator: Array(", ".utf8))))
    }

    /// The names of the fields for this connection only (RFC 9110, section 7.6.1), in lower case. Fields that frame the
    /// message or name its recipient are never among them, whatever the Connection field contains.
    private var connectionFields: Set<String> {
        Set(head.members("connection")).subtracting([
            "host", "content-length", "transfer-encoding", "trailer", "cookie", "authorization", "upgrade", "close",
        ])
    }

    /// The head for the server.
    ///
    /// The client's own fields stay unchanged, in their order. The gateway owns these fields: Cookie and those that a
    /// jar adds, Host if it contradicts the target, and connection-specific fields. Crumb-Cache-Policy is for the gateway
    /// alone.
    ///
    /// - Parameters:
    ///   - decoration: The fields that the jar adds; `nil` for none.
    ///   - proxy: The credentials for a proxy, if the request goes through one.
    ///   - isToProxy: Whether the request is sent to a proxy, in absolute form.
    ///   - gateway: The name of this gateway, for a proxy.
    ///   - acceptsTrailers: Whether to tell the server that trailers are accepted, which HTTP/2 permits (RFC 9113,
    ///     section 8.2.2).
    func octets(
        with decoration: Decoration?, toProxy isToProxy: Bool = false, as gateway: String? = nil,
        proxyAuthorization: String? = nil, acceptingTrailers acceptsTrailers: Bool = false
    ) -> [UInt8] {
        var written: [UInt8] = []
        written.reserveCapacity(head.octets.count + 512)
        written += head.octets[head.startLine][inside: line.method]
        written.append(ASCII.space)
        if isToProxy { written += Array("http://".utf8) + authority }
        if path.isEmpty {
            written.append(method == "OPTIONS" && !isToProxy ? UInt8(ascii: "*") : ASCII.slash)
        } else {
            // `http://host?query` has an empty path (RFC 9112, section 3.2.1).
            if path[0] == ASCII.questionMark || path[0] == ASCII.numberSign { written.append(ASCII.slash) }
            written += path
        }
        written.append(contentsOf: " HTTP/1.1\r\n".utf8)
        append(fieldsTo: &written, with: decoration)
        if acceptsTrailers { written.append(field: "TE", "trailers") }
        if isToProxy, let gateway { written.append(field: "Via", PassedGateways(head).via(adding: gateway)) }
        if let proxyAuthorization { written.append(field: "Proxy-Authorization", Octets(proxyAuthorization)) }
        written += [ASCII.carriageReturn, ASCII.lineFeed]
        return written
    }

    /// A field that the server gets.
    private enum SentField {
        /// The client's own.
        case line(MessageHead.Field)
        case field(ArraySlice<UInt8>, Octets)
    }

    /// The fields that the server gets without a cache, in order (see
    /// ``octets(with:toProxy:as:proxyAuthorization:acceptingTrailers:)``).
    func ownFields(with decoration: Decoration?) -> [MessageFields.Field] {
        var fields: [MessageFields.Field] = []
        fields.reserveCapacity(head.fields.count + 4)
        forEachField(with: decoration, replacing: nil) { field in
            switch field {
            case .line(let line):
                fields.append(
                    MessageFields.Field(Octets(head.octets, in: line.name), Octets(head.octets, in: line.value)))
            case .field(let name, let value): fields.append(MessageFields.Field(Octets(Array(name)), value))
            }
        }
        return fields
    }

    private func append(fieldsTo written: inout [UInt8], with decoration: Decoration?) {
        forEachField(with: decoration, replacing: cacheFields) { field in
            switch field {
            case .line(let line): written.append(line: head.octets[line.line])
            case .field(let name, let value): written.append(field: name, value)
            }
        }
    }

    /// - Parameter cacheFields: Those of a cache's names that the server gets instead of the client's.
    private func forEachField(
        with decoration: Decoration?, replacing cacheFields: [MessageFields.Field]?, _ body: (SentField) -> Void
    ) {
        var added = decoration?.headerFields ?? []
        let replaced = Set(added.map { $0.name.lowercased() })
        var cookie = decoration.map(\.cookies.octets) ?? []
        let options = connectionFields
        var hasHost = false
        var hasConnection = false
        for field in head.fields {
            switch head.lowercasedName(field) {
            case "host":
                hasHost = true
                body(.field(head.octets[field.name], Octets(authority)))
            case "connection", "proxy-connection":
                if !hasConnection { body(.field(Array("Connection".utf8)[...], isUpgrade ? "Upgrade" : "keep-alive")) }
                hasConnection = true
            case "keep-alive", "proxy-authorization", "proxy-authenticate", "te", "crumb-cache-policy": continue
            case "accept-encoding" where needsReadableCoding && !replaced.contains("accept-encoding"):
                let value = ForwardedRequest.readableCodings(Octets(head.octets, in: field.value))
                body(.field(head.octets[field.name], value))
            case "upgrade":
                if isUpgrade { body(.line(field)) }
            case "via":
                let value = Octets(head.octets, in: field.value)
                guard let others = PassedGateways.withoutNames(value) else { continue }
                if others == value {
                    body(.line(field))
                } else {
                    body(.field(head.octets[field.name], others))
                }
            case "max-forwards" where forwardsLeft != nil:
                body(.field(head.octets[field.name], Octets("\((forwardsLeft ?? 1) - 1)")))
            case "cookie":
                guard decoration != nil else {
                    let value = Octets(head.octets, in: field.value)
                    let others = value.withoutWitnesses
                    if others == value {
                        body(.line(field))
                    } else if !others.isEmpty {
                        body(.field(head.octets[field.name], others))
                    }
                    continue
                }
                if !cookie.isEmpty { body(.field(head.octets[field.name], cookie)) }
                cookie = []
            case let name where replaced.contains(name):
                guard let index = added.firstIndex(where: { $0.name.lowercased() == name }) else { continue }
                body(.field(head.octets[field.name], added.remove(at: index).value))
            case let name where options.contains(name): continue
            case let name where cacheFields != nil && ForwardedRequest.cacheFieldNames.contains(name): continue
            default: body(.line(field))
            }
        }
        for field in cacheFields ?? [] { body(.field(field.name.bytes[...], field.value)) }
        if !hasHost { body(.field(Array("Host".utf8)[...], Octets(authority))) }
        for field in added { body(.field(Array(field.name.utf8)[...], field.value)) }
        if !cookie.isEmpty { body(.field(Array("Cookie".utf8)[...], cookie)) }
    }
}

extension Authority {
    /// The authority as it was written, if only the case of letters differs from the canonical form; else that form.
    /// Cookies are selected by this host, so the server must not see another one.
    fileprivate func octets(as written: Octets) -> [UInt8] {
        let canonical = host.octets.bytes + (port.map { Array(":\($0)".utf8) } ?? [])
        return written.lowercased == Octets(canonical) ? written.bytes : canonical
    }
}

extension ArraySlice<UInt8> {
    /// The octets at positions relative to the beginning of the slice.
    subscript(inside range: Range<Int>) -> ArraySlice<UInt8> {
        self[(startIndex + range.lowerBound)..<(startIndex + range.upperBound)]
    }

    fileprivate func lowercasedEquals(_ text: String) -> Bool {
        count == text.utf8.count && zip(self, text.utf8).allSatisfy { ASCII.lowercased($0) == $1 }
    }
}

extension [UInt8] {
    mutating func append(line: ArraySlice<UInt8>) {
        self += line
        self += [ASCII.carriageReturn, ASCII.lineFeed]
    }

    mutating func append(field name: some Sequence<UInt8>, _ value: Octets) {
        append(contentsOf: name)
        self += [ASCII.colon, ASCII.space]
        value.withSpan { append($0) }
        self += [ASCII.carriageReturn, ASCII.lineFeed]
    }

    mutating func append(field name: String, _ value: Octets) {
        append(field: name.utf8, value)
    }
}
