import CookieModel

/// Writes the cookies of WebDriver's "Add Cookie" (section 14.3 of the W3C specification), for a page of one host.
///
/// A cookie with a `domain` is one of the whole domain for every driver, whether there is a dot or not; one without it
/// belongs to the host of the page alone.
struct WebDriverWriter: FormatWriter {
    private var cookies = JSONArrayText()

    func begin(_ bytes: inout [UInt8]) {
        bytes.append(ASCII.leftBracket)
    }

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.append("name", record.name)
        object.append("value", record.value)
        object.append("path", record.path)
        if !record.isHostOnly { object.append("domain", ".\(record.domain)") }
        object.append("secure", record.isSecure)
        object.append("httpOnly", record.isHTTPOnly)
        if let expiry = record.expiry { object.append("expiry", expiry.seconds) }
        if let sameSite = record.sameSite.attributeValue { object.append("sameSite", sameSite) }
        cookies.append(object.bytes, to: &bytes)
    }

    func end(_ bytes: inout [UInt8]) {
        bytes += "\n]\n".utf8
    }
}
