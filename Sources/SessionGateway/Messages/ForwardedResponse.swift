import HTTPMessages
import RequestDecoration
import WebPrimitives

/// A server's response, checked and ready to be passed on.
struct ForwardedResponse: Sendable {
    let head: MessageHead
    let status: Int
    let framing: BodyFraming
    /// Whether the server has closed the connection before the empty line of its head.
    let isCut: Bool
    private let minorVersion: Int
    /// How many octets had arrived on its connection before it.
    var start = 0

    /// Checks a response.
    ///
    /// - Parameters:
    ///   - isToHead: Whether the request's method was HEAD.
    ///   - isCut: Whether the server has sent no empty line.
    init(_ head: MessageHead, toHead isToHead: Bool, cut isCut: Bool = false) throws(MessageError) {
        let line = head.octets.span.extracting(head.startLine)
        guard let status = StatusLine(line), line.hasPrefix("HTTP/1.") else { throw .startLineInvalid }
        minorVersion = line[7] == ASCII.zero ? 0 : 1
        self.head = head
        self.status = status.status
        self.isCut = isCut
        framing = try BodyFraming(
            ofResponse: head, status: status.status, isToHead: isToHead, minorVersion: minorVersion)
    }

    /// Whether another response to the same request follows (RFC 9110, section 15.2).
    var isInterim: Bool { status / 100 == 1 && status != 101 }

    /// Whether a proxy has answered instead of the server. Its cookies do not belong to the site (RFC 9110, section
    /// 15.5.8).
    var isOfProxy: Bool { status == 407 }

    /// Whether the length of its body is unknown until its end.
    var hasUnknownLength: Bool { framing == .chunked || framing == .untilClose }

    /// Whether the server keeps the connection open for another request.
    var keepsConnection: Bool {
        minorVersion > 0 && !isCut && framing != .untilClose && status != 101
            && !head.members("connection").contains("close")
    }

    /// The values of the Set-Cookie fields, in order.
    var setCookie: [Octets] { head.values("set-cookie") }

    /// Whether the site clears its cookies in the browser (Clear Site Data, section 3.1).
    var clearsCookies: Bool {
        head.values("clear-site-data").flatMap { $0.split(separator: ASCII.comma) }.contains { member in
            ["\"cookies\"", "\"*\""].contains(Octets(Array(member)).trimmingBlanks)
        }
    }

    /// The part of the response that login rules use.
    var responseHead: ResponseHead {
        ResponseHead(
            status: status, location: head.values("location").first { !$0.isEmpty },
            authenticate: head.values("www-authenticate"),
            proofNonce: head.values("dpop-nonce").first.map { String(decoding: $0, as: UTF8.self) },
            proxyStatus: head.values("proxy-status"), setCookie: setCookie)
    }

    /// The head for the client.
    ///
    /// The server's fields stay unchanged, in their order, except for connection-specific fields and the Set-Cookie
    /// lines that `passed` replaces or withholds.
    ///
    /// - Parameters:
    ///   - isChunked: Whether the body is sent in chunks, although the server has not done so.
    ///   - closes: Whether the connection ends with the response.
    ///   - isIntercepted: Whether the gateway has decrypted the response. If so, it must not lead the client past the
    ///     gateway (Alt-Svc), nor bind the session to a device that does not have its cookies.
    ///   - mapping: The gateway's origins, which stand for those of the site; `nil` in a proxy.
    ///   - former: Set-Cookie lines of earlier responses.
    ///   - clearing: Clear-Site-Data fields of earlier responses.
    ///   - lines: The gateway's own Set-Cookie lines.
    ///   - hint: What the user should change, as a Proxy-Status field.
    ///   - cacheStatus: What the cache has done, as a Cache-Status field.
    ///   - passed: Returns the Set-Cookie line that replaces one of the server's; `nil` for none.
    func octets(
        chunked isChunked: Bool, closes: Bool, intercepted isIntercepted: Bool = false, mapping: OriginMapping? = nil,
        before former: [Octets] = [], clearing: [Octets] = [], adding lines: [Octets] = [],
        hint: GatewayHint? = nil, cacheStatus: Octets? = nil, passed: (Octets) -> Octets?
    ) -> [UInt8] {
        var written: [UInt8] = []
        written.reserveCapacity(head.octets.count + 256)
        written += Array("HTTP/1.1".utf8)
        written.append(line: head.octets[head.startLine].dropFirst(8))
        let options = Set(head.members("connection")).subtracting(["set-cookie", "content-length", "transfer-encoding"])
        func cookie(_ line: Octets) -> Octets { mapping?.local(setCookie: line) ?? line }
        for line in former { written.append(field: "Set-Cookie", cookie(line)) }
        for value in clearing { written.append(field: "Clear-Site-Data", value) }
        var hasLength = false
        for field in head.fields {
            switch head.lowercasedName(field) {
            case "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
                "transfer-encoding":
                continue
            case "upgrade": if status == 101 { written.append(line: head.octets[field.line]) }
            case "set-cookie":
                let value = Octets(head.octets, in: field.value)
                guard let line = passed(value) else { continue }
                if mapping == nil, line == value {
                    written.append(line: self.line(field))
                } else {
                    written.append(field: head.octets[field.name], cookie(line))
                }
            case "alt-svc" where isIntercepted, "secure-session-registration" where isIntercepted: continue
            case "content-length":
                // RFC 9110, section 8.6: these responses have no such field.
                if !hasLength, status / 100 != 1, status != 204 { written.append(line: line(field)) }
                hasLength = true
            case let name where options.contains(name): continue
            case let name where mapping != nil && OriginMapping.responseFields.contains(name):
                let value = Octets(head.octets, in: field.value)
                written.append(field: head.octets[field.name], mapping?.local(value) ?? value)
            default: written.append(line: line(field))
            }
        }
        for line in lines { written.append(field: "Set-Cookie", cookie(line)) }
        if let status = hint?.proxyStatus { written.append(field: "Proxy-Status", status) }
        if let cacheStatus { written.append(field: "Cache-Status", cacheStatus) }
        if isChunked { written.append(field: "Transfer-Encoding", "chunked") }
        if status == 101 {
            written.append(field: "Connection", "Upgrade")
        } else if closes, !isCut {
            // A head without an empty line ends with its connection, which needs no announcement.
            written.append(field: "Connection", "close")
        }
        written += [ASCII.carriageReturn, ASCII.lineFeed]
        return written
    }

    /// The field's line, without white space before its colon (RFC 9112, section 5.1).
    private func line(_ field: MessageHead.Field) -> ArraySlice<UInt8> {
        guard head.octets[field.name.upperBound] != ASCII.colon else { return head.octets[field.line] }
        var line = Array(head.octets[field.name])
        line += [ASCII.colon, ASCII.space]
        line += head.octets[field.value]
        return line[...]
    }
}
