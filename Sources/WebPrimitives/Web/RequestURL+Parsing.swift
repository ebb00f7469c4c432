extension RequestURL {
    /// Parses an absolute URL as the URL Standard's basic URL parser does.
    public init(_ text: String) throws(RequestURLError) {
        try self.init(Octets(text))
    }

    /// Parses the octets of an absolute URL; non-ASCII octets are taken as UTF-8.
    public init(_ octets: Octets) throws(RequestURLError) {
        self = try octets.withSpan { bytes throws(RequestURLError) in
            try RequestURL.parse(bytes, octets)
        }
    }

    private static func parse(_ bytes: Span<UInt8>, _ octets: Octets) throws(RequestURLError) -> RequestURL {
        // Most texts need nothing cut off or removed.
        guard bytes.contains(where: { $0 <= ASCII.space }, markedBy: { $0.bytes(below: ASCII.space + 1) })
        else { return try parseClean(bytes, octets) }
        var start = 0
        var end = bytes.count
        while start < end, bytes[start] <= ASCII.space { start += 1 }
        while end > start, bytes[end - 1] <= ASCII.space { end -= 1 }
        // Step 3 of the parser removes tabs and newlines anywhere.
        let cleaned = Octets(bytes.array(start..<end).filter { !isTabOrNewline($0) })
        return try cleaned.withSpan { bytes throws(RequestURLError) in try parseClean(bytes, cleaned) }
    }

    private static func isTabOrNewline(_ byte: UInt8) -> Bool {
        byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// Parses `bytes`, which are those of `octets`. They are shared if every part is in its final form already.
    private static func parseClean(_ bytes: Span<UInt8>, _ octets: Octets) throws(RequestURLError) -> RequestURL {
        let (scheme, authorityStart) = try parseScheme(bytes)
        var start = authorityStart
        while start < bytes.count, isSlash(bytes[start]) { start += 1 }
        let slash = bytes.position(of: ASCII.slash, or: ASCII.backslash, in: start..<bytes.count)
        let authorityEnd = bytes.position(of: ASCII.questionMark, or: ASCII.numberSign, in: start..<slash)
        let pathEnd = bytes.position(of: ASCII.questionMark, or: ASCII.numberSign, in: authorityEnd..<bytes.count)
        var queryEnd = pathEnd
        if pathEnd < bytes.count, bytes[pathEnd] == ASCII.questionMark {
            queryEnd = bytes.position(of: ASCII.numberSign, in: pathEnd..<bytes.count)
        }
        let (hostPlace, port) = try parseAuthority(bytes, start..<authorityEnd, scheme)
        guard let host = WebHost.parse(bytes.extracting(hostPlace)) else { throw RequestURLError(code: .hostInvalid) }
        let path = URLPath.rewritten(bytes.extracting(authorityEnd..<pathEnd))
        let query = URLPath.rewrittenQuery(bytes.extracting(pathEnd..<queryEnd))
        if host.rewritten == nil, path == nil, query == nil {
            return RequestURL(
                scheme: scheme, port: port, hostKind: host.kind, host: hostPlace, path: authorityEnd..<pathEnd,
                query: pathEnd..<queryEnd, in: octets)
        }
        var written = host.rewritten?.bytes ?? bytes.array(hostPlace)
        let hostEnd = written.count
        written += path ?? bytes.array(authorityEnd..<pathEnd)
        let writtenPathEnd = written.count
        written += query ?? bytes.array(pathEnd..<queryEnd)
        return RequestURL(
            scheme: scheme, port: port, hostKind: host.kind, host: 0..<hostEnd, path: hostEnd..<writtenPathEnd,
            query: writtenPathEnd..<written.count, in: Octets(written))
    }

    @inline(__always)
    private static func isSlash(_ byte: UInt8) -> Bool {
        byte == ASCII.slash || byte == ASCII.backslash
    }

    private static func parseScheme(_ bytes: Span<UInt8>) throws(RequestURLError) -> (Scheme, Int) {
        if bytes.hasPrefixIgnoringCase("https:") { return (.https, 6) }
        if bytes.hasPrefixIgnoringCase("http:") { return (.http, 5) }
        if bytes.hasPrefixIgnoringCase("wss:") { return (.wss, 4) }
        if bytes.hasPrefixIgnoringCase("ws:") { return (.ws, 3) }
        guard let colon = bytes.firstIndex(of: ASCII.colon, in: 0..<bytes.count), colon > 0, ASCII.isLetter(bytes[0])
        else { throw RequestURLError(code: .schemeMissing) }
        for index in 0..<colon {
            let byte = bytes[index]
            guard
                ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == ASCII.hyphen || byte == ASCII.dot
            else { throw RequestURLError(code: .schemeMissing) }
        }
        // `example.com:8080/` and `localhost:3000` are a host and a port that lack a scheme.
        let looksLikePort = colon + 1 < bytes.count && ASCII.isDigit(bytes[colon + 1])
        throw RequestURLError(code: looksLikePort ? .schemeMissing : .schemeUnsupported)
    }

    /// Returns the place of the host in the authority at `range`, and the port.
    private static func parseAuthority(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ scheme: Scheme
    ) throws(RequestURLError) -> (host: Range<Int>, port: UInt16) {
        // Credentials end at the last `@`.
        var start = range.lowerBound
        while let at = bytes.firstIndex(of: ASCII.at, in: start..<range.upperBound) { start = at + 1 }
        var portSearchStart = start
        if start < range.upperBound, bytes[start] == ASCII.leftBracket {
            portSearchStart = bytes.position(of: ASCII.rightBracket, in: start..<range.upperBound)
        }
        let hostEnd = bytes.position(of: ASCII.colon, in: portSearchStart..<range.upperBound)
        var port = Int(scheme.defaultPort)
        if hostEnd + 1 < range.upperBound {
            port = 0
            for digit in (hostEnd + 1)..<range.upperBound {
                guard ASCII.isDigit(bytes[digit]) else { throw RequestURLError(code: .portInvalid) }
                port = port * 10 + Int(bytes[digit] - ASCII.zero)
                guard port <= 65535 else { throw RequestURLError(code: .portInvalid) }
            }
        }
        return (start..<hostEnd, UInt16(truncatingIfNeeded: port))
    }
}

extension RequestURL {
    /// Resolves a `Location` against this URL, as a browser does with a redirect.
    ///
    /// - Parameter reference: an absolute URL, or one relative to scheme, host or path.
    package func resolving(_ reference: Octets) throws(RequestURLError) -> RequestURL {
        var text = reference.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }.drop { $0 <= ASCII.space }
        while let last = text.last, last <= ASCII.space { text.removeLast() }
        if let colon = RequestURL.schemeEnd(text) {
            guard text[..<colon].map(ASCII.lowercased) == Array(scheme.name.utf8) else {
                return try RequestURL(Octets(text))
            }
            // After this URL's own scheme, the rest is as relative as without it: `http:b` is `b`.
            text = text[(colon + 1)...]
        }
        guard let first = text.first else { return self }
        let second = text.dropFirst().first
        var absolute = Array("\(scheme.name):".utf8)
        if RequestURL.isSlash(first), let second, RequestURL.isSlash(second) {
            return try RequestURL(Octets(absolute + text))
        }
        absolute = Array(origin.utf8)
        if RequestURL.isSlash(first) {
            absolute += text
        } else if first == ASCII.questionMark {
            absolute += path + text
        } else if first == ASCII.numberSign {
            return self
        } else {
            let lastSlash = path.lastIndex(of: ASCII.slash) ?? 0
            absolute += path[0..<lastSlash] + [ASCII.slash] + text
        }
        return try RequestURL(Octets(absolute))
    }

    /// The index of a scheme's colon, if there is one.
    private static func schemeEnd(_ text: ArraySlice<UInt8>) -> Int? {
        guard let first = text.first, ASCII.isLetter(first), let colon = text.firstIndex(of: ASCII.colon)
        else { return nil }
        let isScheme = text[..<colon].allSatisfy { byte in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == ASCII.hyphen || byte == ASCII.dot
        }
        return isScheme ? colon : nil
    }
}
