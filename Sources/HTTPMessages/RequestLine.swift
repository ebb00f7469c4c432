package import WebPrimitives

/// A request's first line (RFC 9112, section 3).
package struct RequestLine: Sendable {
    /// The form of a request target (RFC 9112, section 3.2).
    package enum Target: Sendable {
        /// `/path?query`: for the server that the request is sent to.
        case origin
        /// `http://host/path?query`: for a proxy. The ranges are those of the line.
        case absolute(scheme: Range<Int>, authority: Range<Int>, rest: Range<Int>)
        /// `host:port`: where a tunnel goes.
        case authority
        /// `*`: the server as a whole.
        case asterisk
    }

    /// The place of the method. Methods are case-sensitive.
    package let method: Range<Int>
    /// The place of the request target. Its octets are forwarded unchanged, including those that no URI has.
    package let target: Range<Int>
    /// Which form the target has.
    package let form: Target
    /// The minor version: 0 or 1.
    package let minorVersion: Int

    /// Parses a line without its line end.
    package init(_ line: Span<UInt8>) throws(MessageError) {
        // method SP request-target SP HTTP-version, each apart by one space.
        guard let methodEnd = line.firstIndex(of: ASCII.space, from: 0), methodEnd > 0, line.isToken(0..<methodEnd),
            let targetEnd = line.firstIndex(of: ASCII.space, from: methodEnd + 1), targetEnd > methodEnd + 1
        else { throw .startLineInvalid }
        method = 0..<methodEnd
        target = (methodEnd + 1)..<targetEnd
        let version = line.extracting((targetEnd + 1)..<line.count)
        guard version.count == 8, version.hasPrefix("HTTP/"), ASCII.isDigit(version[5]), version[6] == ASCII.dot,
            ASCII.isDigit(version[7])
        else { throw .startLineInvalid }
        guard version[5] == ASCII.zero + 1 else { throw .versionUnsupported }
        minorVersion = version[7] == ASCII.zero ? 0 : 1
        // NB: Octets beyond ASCII and characters such as `|` are no part of a URI, but browsers and scripts send them.
        guard !line.extracting(target).containsControlOrTab else { throw .targetInvalid }
        form = try RequestLine.form(line, target, isTunnel: line.extracting(method).equals("CONNECT"))
    }

    private static func form(
        _ line: Span<UInt8>, _ target: Range<Int>, isTunnel: Bool
    ) throws(MessageError) -> Target {
        if isTunnel { return .authority }
        if line[target.lowerBound] == ASCII.slash { return .origin }
        if target.count == 1, line[target.lowerBound] == UInt8(ascii: "*") { return .asterisk }
        guard let colon = line.firstIndex(of: ASCII.colon, in: target), colon + 2 < target.upperBound,
            line[colon + 1] == ASCII.slash, line[colon + 2] == ASCII.slash
        else { throw .targetInvalid }
        let start = colon + 3
        let slash = line.position(of: ASCII.slash, or: ASCII.questionMark, in: start..<target.upperBound)
        let end = line.position(of: ASCII.numberSign, in: start..<slash)
        // RFC 9110, section 4.2.4: user information from another party is an error.
        guard end > start, line.firstIndex(of: ASCII.at, in: start..<end) == nil else { throw .targetInvalid }
        return .absolute(scheme: target.lowerBound..<colon, authority: start..<end, rest: end..<target.upperBound)
    }
}

extension Span<UInt8> {
    /// Whether some octet is a control character.
    fileprivate var containsControlOrTab: Bool {
        containsControl || firstIndex(of: ASCII.tab, from: 0) != nil
    }
}

/// A host and a port, as in the target of CONNECT and in the Host field.
package struct Authority: Sendable, Hashable {
    /// The host, canonical.
    package let host: WebHost
    /// The port; `nil` if none is written.
    package let port: UInt16?

    /// A host and a port.
    package init(host: WebHost, port: UInt16?) {
        self.host = host
        self.port = port
    }

    /// Parses `host`, `host:port`, `[address]` or `[address]:port`; `nil` for any other text.
    package init?(_ octets: Octets) {
        let bytes = octets.bytes
        var hostEnd = bytes.count
        if bytes.first == ASCII.leftBracket {
            guard let bracket = bytes.firstIndex(of: ASCII.rightBracket) else { return nil }
            hostEnd = bracket + 1
        } else if let colon = bytes.firstIndex(of: ASCII.colon) {
            hostEnd = colon
        }
        guard let host = WebHost(Octets(bytes, in: 0..<hostEnd)) else { return nil }
        self.host = host
        guard hostEnd < bytes.count else {
            port = nil
            return
        }
        let digits = bytes[(hostEnd + 1)...]
        guard bytes[hostEnd] == ASCII.colon, digits.count <= 5, digits.allSatisfy(ASCII.isDigit) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - ASCII.zero) }
        guard number <= 65535 else { return nil }
        // RFC 3986, section 3.2.3: an empty port is the scheme's own.
        port = digits.isEmpty ? nil : UInt16(number)
    }
}
