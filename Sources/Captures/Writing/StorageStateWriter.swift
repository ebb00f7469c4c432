import CookieModel

/// Writes a `storageState`, as Playwright and Puppeteer load it.
///
/// Playwright gives each cookie to the browser's protocol as it is: a domain with a leading dot is a domain cookie, one
/// without is host-only; no `sameSite` is no attribute; -1 ends with the session.
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
