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
        var start = 0
        var end = bytes.count
        while start < end, bytes[start] <= ASCII.space { start += 1 }
        while end > start, bytes[end - 1] <= ASCII.space { end -= 1 }
        // Step 3 of the parser removes tabs and newlines wherever they stand.
        for index in start..<end where isTabOrNewline(bytes[index]) {
            let cleaned = Octets(bytes.array(start..<end).filter { !isTabOrNewline($0) })
            return try cleaned.withSpan { bytes throws(RequestURLError) in try parseClean(bytes, cleaned) }
        }
        return try parseClean(bytes.extracting(start..<end), octets[start..<end])
    }

    private static func isTabOrNewline(_ byte: UInt8) -> Bool {
        byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// Parses `bytes`, which are those of `octets`: what is in its final form already is shared, not copied.
    private static func parseClean(_ bytes: Span<UInt8>, _ octets: Octets) throws(RequestURLError) -> RequestURL {
        let (scheme, authorityStart) = try parseScheme(bytes)
        var position = authorityStart
        while position < bytes.count, isSlash(bytes[position]) { position += 1 }
        var end = position
        var hostStart = position
        while end < bytes.count, !isSlash(bytes[end]), bytes[end] != ASCII.questionMark, bytes[end] != ASCII.numberSign
        {
            if bytes[end] == ASCII.at { hostStart = end + 1 }
            end += 1
        }
        let (host, port) = try parseAuthority(bytes, octets, hostStart..<end, scheme)
        var pathEnd = end
        while pathEnd < bytes.count, bytes[pathEnd] != ASCII.questionMark, bytes[pathEnd] != ASCII.numberSign {
            pathEnd += 1
        }
        var queryEnd = pathEnd
        if pathEnd < bytes.count, bytes[pathEnd] == ASCII.questionMark {
            queryEnd = bytes.position(of: ASCII.numberSign, in: pathEnd..<bytes.count)
        }
        let path = URLPath.normalized(bytes.extracting(end..<pathEnd), octets[end..<pathEnd])
        let query = URLPath.encodedQuery(bytes.extracting(pathEnd..<queryEnd), octets[pathEnd..<queryEnd])
        return RequestURL(scheme: scheme, host: host, port: port, path: path, query: query)
    }

    @inline(__always)
    private static func isSlash(_ byte: UInt8) -> Bool {
        byte == ASCII.slash || byte == ASCII.backslash
    }

    private static func parseScheme(_ bytes: Span<UInt8>) throws(RequestURLError) -> (Scheme, Int) {
        guard let colon = bytes.firstIndex(of: ASCII.colon, in: 0..<bytes.count), colon > 0, ASCII.isLetter(bytes[0])
        else { throw RequestURLError(code: .schemeMissing) }
        for index in 0..<colon {
            let byte = bytes[index]
            guard
                ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == ASCII.hyphen || byte == ASCII.dot
            else { throw RequestURLError(code: .schemeMissing) }
        }
        let name = bytes.extracting(0..<colon)
        if name.equalsIgnoringCase("https") { return (.https, colon + 1) }
        if name.equalsIgnoringCase("http") { return (.http, colon + 1) }
        if name.equalsIgnoringCase("wss") { return (.wss, colon + 1) }
        if name.equalsIgnoringCase("ws") { return (.ws, colon + 1) }
        // `example.com:8080/` and `localhost:3000` are a host and a port that lack a scheme.
        let looksLikePort = colon + 1 < bytes.count && ASCII.isDigit(bytes[colon + 1])
        throw RequestURLError(code: looksLikePort ? .schemeMissing : .schemeUnsupported)
    }

    private static func parseAuthority(
        _ bytes: Span<UInt8>, _ octets: Octets, _ range: Range<Int>, _ scheme: Scheme
    ) throws(RequestURLError) -> (WebHost, UInt16) {
        var hostEnd = range.upperBound
        var index = range.lowerBound
        if index < hostEnd, bytes[index] == ASCII.leftBracket {
            index = bytes.position(of: ASCII.rightBracket, in: range)
        }
        hostEnd = bytes.position(of: ASCII.colon, in: index..<hostEnd)
        var port = Int(scheme.defaultPort)
        if hostEnd + 1 < range.upperBound {
            port = 0
            for digit in (hostEnd + 1)..<range.upperBound {
                guard ASCII.isDigit(bytes[digit]) else { throw RequestURLError(code: .portInvalid) }
                port = port * 10 + Int(bytes[digit] - ASCII.zero)
                guard port <= 65535 else { throw RequestURLError(code: .portInvalid) }
            }
        }
        let hostRange = range.lowerBound..<hostEnd
        guard let host = WebHost.parse(bytes.extracting(hostRange), octets[hostRange])
        else { throw RequestURLError(code: .hostInvalid) }
        return (host, UInt16(truncatingIfNeeded: port))
    }
}
