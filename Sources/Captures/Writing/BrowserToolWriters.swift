import CookieModel

/// Writes a `storageState`, as Playwright and Puppeteer load it.
///
/// Playwright passes each cookie to the browser's protocol unchanged: a domain with a leading dot is a domain cookie,
/// one without is host-only; no `sameSite` means no attribute; -1 means a session cookie.
struct StorageStateWriter: FormatWriter {
    private var cookies = JSONArrayText()
    private var origins = JSONArrayText()
    private var items = JSONArrayText()
    /// The origin whose items are being written.
    private var origin: String?

    func begin(_ bytes: inout [UInt8]) {
        bytes += #"{"cookies":["#.utf8
    }

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.append("name", record.name)
        object.append("value", record.value)
        object.append("domain", record.isHostOnly ? record.domain : ".\(record.domain)")
        object.append("path", record.path)
        object.append("expires", json: (record.expiry?.decimalSeconds ?? "-1").utf8)
        object.append("httpOnly", record.isHTTPOnly)
        object.append("secure", record.isSecure)
        if let sameSite = record.sameSite.attributeValue { object.append("sameSite", sameSite) }
        if let key = record.partitionKey {
            object.append("partitionKey", key.topLevelSite)
            object.append("_crHasCrossSiteAncestor", key.hasCrossSiteAncestor)
        }
        cookies.append(object.bytes, to: &bytes)
    }

    mutating func write(_ item: WebStorageItem, to bytes: inout [UInt8]) {
        if item.origin != origin {
            bytes += (origin == nil ? "\n],\"origins\":[" : "\n]}").utf8
            var object = JSONObjectWriter()
            object.append("origin", item.origin)
            object.append("localStorage", json: "[".utf8)
            origins.append(object.openBytes, to: &bytes)
            (origin, items) = (item.origin, JSONArrayText())
        }
        var object = JSONObjectWriter()
        object.append("name", webString: item.key)
        object.append("value", webString: item.value)
        items.append(object.bytes, to: &bytes)
    }

    func end(_ bytes: inout [UInt8]) {
        bytes += (origin == nil ? "\n],\"origins\":[]}\n" : "\n]}\n]}\n").utf8
    }
}

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

/// Writes a session of HTTPie 3.
///
/// HTTPie keeps cookies in Python's cookie jar, which knows a host without a dot by the name `HOST.local`, and has
/// octets as Latin-1.
struct HTTPieSessionWriter: FormatWriter {
    private var cookies = JSONArrayText()

    func begin(_ bytes: inout [UInt8]) {
        bytes +=
            """
            {"__meta__":{"about":"HTTPie session file","help":"https://httpie.io/docs#sessions","httpie":"3.2.4"},
            "auth":{"password":null,"type":null,"username":null},
            "cookies":[
            """.utf8
    }

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.append("domain", domain(of: record))
        object.append("expires", json: (record.expiry.map { String($0.seconds) } ?? "null").utf8)
        object.append("name", fromLatin1(record.name))
        object.append("path", fromLatin1(record.path))
        object.append("secure", record.isSecure)
        object.append("value", fromLatin1(record.value))
        cookies.append(object.bytes, to: &bytes)
    }

    func end(_ bytes: inout [UInt8]) {
        bytes += "\n],\n\"headers\":[]}\n".utf8
    }

    private func domain(of record: CookieRecord) -> String {
        guard record.isHostOnly else { return ".\(record.domain)" }
        return record.domain.utf8.contains(ASCII.dot) ? record.domain : "\(record.domain).local"
    }

    /// The UTF-8 of the text whose Latin-1 these octets are.
    private func fromLatin1(_ octets: Octets) -> [UInt8] {
        octets.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
    }
}
