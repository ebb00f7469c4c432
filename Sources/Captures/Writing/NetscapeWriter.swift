import CookieModel

/// Writes a cookie file: seven columns a line, a leading dot and TRUE for a domain cookie, neither for a host-only one.
///
/// - wget, aria2 and others take a line that begins with `#HttpOnly_` for a comment, and would be signed out without the
///   cookie. So an HttpOnly cookie stands twice: first plain, for them, then with the mark, which replaces it for those
///   who know the mark (curl, Python and what is made of it, libsoup, browsers' importers, ``NetscapeReader``).
/// - curl compares an IPv6 address without brackets.
struct NetscapeWriter: FormatWriter {
    func begin(_ bytes: inout [UInt8]) {
        bytes +=
            """
            # Netscape HTTP Cookie File
            # Written by crumb. Who has this file is signed in: keep it to yourself.
            # An HttpOnly cookie stands twice: plain, for tools that take a line with # for a comment, then marked.


            """.utf8
    }

    func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        appendLine(record, to: &bytes)
        guard record.isHTTPOnly else { return }
        bytes += "#HttpOnly_".utf8
        appendLine(record, to: &bytes)
    }

    func end(_ bytes: inout [UInt8]) {}

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
