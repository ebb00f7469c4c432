import CookieModel

/// Writes a cookie file: seven columns a line, a leading dot and TRUE for a domain cookie, neither for a host-only one.
///
/// - wget, aria2 and others take a line that begins with `#HttpOnly_` for a comment, and would be signed out without
///   the cookie. So an HttpOnly cookie has two lines: a plain one for these tools, then a marked one, which replaces
///   the first for programs that know the mark (curl, Python and tools written in it, libsoup, browsers' importers,
///   ``NetscapeReader``).
/// - curl compares an IPv6 address without brackets.
struct NetscapeWriter: FormatWriter {
    func begin(_ bytes: inout [UInt8]) {
        bytes +=
            """
            # Netscape HTTP Cookie File
            # Written by crumb. Anyone who has this file is signed in: keep it private.
            # An HttpOnly cookie has two lines: a plain one, for tools that skip lines with #, then a marked one.


            """.utf8
    }

    func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        appendLine(record, to: &bytes)
        guard record.isHTTPOnly else { return }
        bytes += "#HttpOnly_".utf8
        appendLine(record, to: &bytes)
    }

    private func appendLine(_ record: CookieRecord, to bytes: inout [UInt8]) {
        var domain = Substring(record.domain)
        if domain.hasPrefix("["), domain.hasSuffix("]") { domain = domain.dropFirst().dropLast() }
        if !record.isHostOnly { bytes.append(ASCII.dot) }
        bytes += domain.utf8
        bytes += record.isHostOnly ? "\tFALSE\t".utf8 : "\tTRUE\t".utf8
        bytes += record.path
        bytes += record.isSecure ? "\tTRUE\t".utf8 : "\tFALSE\t".utf8
        bytes += String(record.expiry?.seconds ?? 0).utf8
        bytes.append(ASCII.tab)
        bytes += record.name
        bytes.append(ASCII.tab)
        bytes += record.value
        bytes.append(ASCII.lineFeed)
    }
}

/// Writes Set-Cookie lines, each with its field's name.
struct SetCookieWriter: FormatWriter {
    func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        bytes += "Set-Cookie: ".utf8
        bytes += record.setCookieLine
        bytes.append(ASCII.lineFeed)
    }
}

/// Writes the Cookie field of a request, its cookies in the order in which they come (section 5.8.3 of the draft).
struct HeaderWriter: FormatWriter {
    private var isEmpty = true

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        bytes += isEmpty ? "Cookie: ".utf8 : "; ".utf8
        isEmpty = false
        bytes += record.pair
    }

    func end(_ bytes: inout [UInt8]) {
        if !isEmpty { bytes.append(ASCII.lineFeed) }
    }
}

/// Writes a configuration file for `curl --config`, with the Cookie field of a request.
///
/// As a header, since curl takes a `cookie` without an equals sign for a file's name. curl sends neither to another host
/// that it is redirected to.
package struct CurlConfigurationWriter: FormatWriter {
    private var header = HeaderWriter()
    private var isEmpty = true

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        if isEmpty { bytes += "header = \"".utf8 }
        isEmpty = false
        var text: [UInt8] = []
        header.write(record, to: &text)
        bytes += CurlConfigurationWriter.escaped(text)
    }

    func end(_ bytes: inout [UInt8]) {
        if !isEmpty { bytes += "\"\n".utf8 }
    }

    /// Escapes octets for a quoted value, such that curl reads the same octets.
    package static func escaped(_ octets: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for byte in octets {
            switch byte {
            case ASCII.quote, ASCII.backslash: text += [ASCII.backslash, byte]
            case ASCII.lineFeed: text += "\\n".utf8
            case ASCII.carriageReturn: text += "\\r".utf8
            default: text.append(byte)
            }
        }
        return text
    }
}

/// Writes JSON lines of our own: an object a cookie, which ``CookieLineReader`` reads back without any loss.
///
/// Every line names its format, so that files can be joined and lines removed. Properties that a cookie does not have
/// are omitted, and octets that are not UTF-8 are written in Base64 under a separate name.
struct CookieLineWriter: FormatWriter {
    func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        var line = JSONObjectWriter()
        line.append("crumb", 1)
        append("name", "nameBase64", record.name, to: &line)
        append("value", "valueBase64", record.value, to: &line)
        line.append("domain", record.domain)
        line.append("hostOnly", record.isHostOnly)
        append("path", "pathBase64", record.path, to: &line)
        line.append("secure", record.isSecure)
        line.append("httpOnly", record.isHTTPOnly)
        if let sameSite = record.sameSite.attributeValue { line.append("sameSite", sameSite) }
        append("expires", record.expiry, to: &line)
        append("created", record.creation, to: &line)
        append("lastAccess", record.lastAccess, to: &line)
        if let key = record.partitionKey { line.append("partitionKey", key.serialized) }
        bytes += line.bytes
        bytes.append(ASCII.lineFeed)
    }

    private func append(
        _ key: StaticString, _ base64Key: StaticString, _ octets: Octets, to line: inout JSONObjectWriter
    ) {
        if octets.utf8String != nil {
            line.append(key, octets)
        } else {
            line.append(base64Key, Base64.encode(octets))
        }
    }

    private func append(_ key: StaticString, _ moment: Timestamp?, to line: inout JSONObjectWriter) {
        if let moment { line.append(key, moment.serialized) }
    }
}
