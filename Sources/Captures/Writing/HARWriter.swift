import CookieModel

/// Writes a HAR 1.2 whose responses set the cookies: `headers` has the Set-Cookie lines, which readers go by, and
/// `cookies` says the same in parts, for those who look there.
///
/// Cookies of one host that come one after the other share a response. Each is one to an https request, since only that
/// may set all of them.
struct HARWriter: FormatWriter {
    /// How many cookies share a response. They are held back until it is complete.
    private static let groupLimit = 50

    private let time: String
    private var entries = JSONArrayText()
    private var host = ""
    private var group: [CookieRecord] = []

    init(time: Timestamp) {
        self.time = time.rfc3339
    }

    func begin(_ bytes: inout [UInt8]) {
        bytes += #"{"log":{"version":"1.2","creator":{"name":"crumb","version":"1"},"pages":[],"entries":["#.utf8
    }

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        if record.domain != host || group.count == HARWriter.groupLimit { endGroup(&bytes) }
        host = record.domain
        group.append(record)
    }

    mutating func end(_ bytes: inout [UInt8]) {
        endGroup(&bytes)
        bytes += "\n]}}\n".utf8
    }

    private mutating func endGroup(_ bytes: inout [UInt8]) {
        guard !group.isEmpty else { return }
        var entry = JSONObjectWriter()
        entry.append("startedDateTime", time)
        entry.append("time", 0)
        entry.append("request", json: request)
        entry.append("response", json: response)
        entry.append("cache", json: "{}".utf8)
        entry.append("timings", json: #"{"send":0,"wait":0,"receive":0}"#.utf8)
        entries.append(entry.bytes, to: &bytes)
        group.removeAll(keepingCapacity: true)
    }

    private var request: [UInt8] {
        var request = JSONObjectWriter()
        request.append("method", "GET")
        request.append("url", "https://\(host)/")
        request.append("httpVersion", "HTTP/1.1")
        for member in ["cookies", "headers", "queryString"] as [StaticString] {
            request.append(member, json: "[]".utf8)
        }
        request.append("headersSize", -1)
        request.append("bodySize", 0)
        return request.bytes
    }

    private var response: [UInt8] {
        var response = JSONObjectWriter()
        response.append("status", 200)
        response.append("statusText", "OK")
        response.append("httpVersion", "HTTP/1.1")
        response.append("cookies", json: HARWriter.array(group.map(HARWriter.cookie)))
        response.append(
            "headers",
            json: HARWriter.array(
                group.map { record in
                    var header = JSONObjectWriter()
                    header.append("name", "Set-Cookie")
                    header.append("value", record.setCookieLine)
                    return header.bytes
                }))
        response.append("content", json: #"{"size":0,"mimeType":"text/plain"}"#.utf8)
        response.append("redirectURL", "")
        response.append("headersSize", -1)
        response.append("bodySize", 0)
        return response.bytes
    }

    private static func cookie(_ record: CookieRecord) -> [UInt8] {
        var cookie = JSONObjectWriter()
        cookie.append("name", record.name)
        cookie.append("value", record.value)
        cookie.append("path", record.path)
        cookie.append("domain", record.isHostOnly ? record.domain : ".\(record.domain)")
        if let expiry = record.expiry { cookie.append("expires", expiry.rfc3339) }
        cookie.append("httpOnly", record.isHTTPOnly)
        cookie.append("secure", record.isSecure)
        if let sameSite = record.sameSite.attributeValue { cookie.append("sameSite", sameSite) }
        return cookie.bytes
    }

    private static func array(_ elements: [[UInt8]]) -> [UInt8] {
        [ASCII.leftBracket] + elements.joined(separator: [ASCII.comma]) + [ASCII.rightBracket]
    }
}
