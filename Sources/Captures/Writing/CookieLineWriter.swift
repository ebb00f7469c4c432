import CookieModel

/// Writes JSON lines of our own: an object a cookie, which ``CookieLineReader`` reads back without any loss.
///
/// Every line names its format, so that files can be joined and lines removed. Properties that a cookie does not have
/// are omitted, and octets that are not UTF-8 are written in Base64 under a separate name.
struct CookieLineWriter: FormatWriter {
    func begin(_ bytes: inout [UInt8]) {}

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

    func end(_ bytes: inout [UInt8]) {}

    private func append(
        _ key: StaticString, _ base64Key: StaticString, _ octets: Octets, to line: inout JSONObjectWriter
    ) {
        if octets.utf8String != nil {
            line.append(key, octets)
        } else {
            line.append(base64Key, Base64.encode(octets))
        }
    }

    /// RFC 3339 where it says the same; for a moment that has no year of four digits microseconds since 1970, as text:
    /// many readers have no numbers that large.
    private func append(_ key: StaticString, _ moment: Timestamp?, to line: inout JSONObjectWriter) {
        guard let moment else { return }
        let text = moment.rfc3339
        if Timestamp(rfc3339: text.utf8) == moment {
            line.append(key, text)
        } else {
            line.append(key, String(moment.microseconds))
        }
    }
}
