import CookieModel

/// Writes Set-Cookie lines, each with its field's name.
struct SetCookieWriter: FormatWriter {
    func begin(_ bytes: inout [UInt8]) {}

    func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        bytes += "Set-Cookie: ".utf8
        bytes += record.setCookieLine
        bytes.append(ASCII.lineFeed)
    }

    func end(_ bytes: inout [UInt8]) {}
}

extension CookieRecord {
    /// The field value that sets the cookie, where it comes from its own host over a secure connection (section 4.1 of
    /// the draft, and CHIPS).
    var setCookieLine: [UInt8] {
        var line = name.bytes + [0x3D] + value.bytes
        if !isHostOnly { line += "; Domain=\(domain)".utf8 }
        line += "; Path=".utf8
        line += path
        if let expiry { line += "; Expires=\(expiry.httpDate)".utf8 }
        if isSecure { line += "; Secure".utf8 }
        if isHTTPOnly { line += "; HttpOnly".utf8 }
        if let sameSite = sameSite.attributeValue { line += "; SameSite=\(sameSite)".utf8 }
        if partitionKey != nil { line += "; Partitioned".utf8 }
        return line
    }
}
