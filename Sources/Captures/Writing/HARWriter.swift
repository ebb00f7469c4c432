import CookieModel
import HTTPMessages
import WebPrimitives

/// Writes a HAR 1.2 whose responses set the cookies: `headers` has the Set-Cookie lines, which readers go by, and
/// `cookies` has the same in parts, for readers of that member.
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
        bytes += HARText.beginning
    }

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        if record.domain != host || group.count == HARWriter.groupLimit { endGroup(&bytes) }
        host = record.domain
        group.append(record)
    }

    mutating func end(_ bytes: inout [UInt8]) {
        endGroup(&bytes)
        bytes += HARText.end
    }

    private mutating func endGroup(_ bytes: inout [UInt8]) {
        guard !group.isEmpty else { return }
        var entry = JSONObjectWriter()
        entry.append("startedDateTime", time)
        entry.append("time", 0)
        let request = HARText.request(method: "GET", url: Array("https://\(host)/".utf8), bodySize: 0)
        entry.append("request", json: request.bytes)
        entry.append("response", json: response)
        entry.append("cache", json: "{}".utf8)
        entry.append("timings", json: #"{"send":0,"wait":0,"receive":0}"#.utf8)
        entries.append(entry.bytes, to: &bytes)
        group.removeAll(keepingCapacity: true)
    }

    private var response: [UInt8] {
        var response = HARText.response(
            status: 200, reason: Array("OK".utf8), cookies: group.map(HARWriter.cookie),
            fields: group.map { HARText.pair(Array("Set-Cookie".utf8), $0.setCookieLine) })
        response.append("content", json: #"{"size":0,"mimeType":"text/plain"}"#.utf8)
        HARText.append(redirect: [], bodySize: 0, to: &response)
        return response.bytes
    }

    private static func cookie(_ record: CookieRecord) -> [UInt8] {
        HARText.cookie(
            name: record.name, value: record.value, path: record.path,
            domain: Octets(record.isHostOnly ? record.domain : ".\(record.domain)"), expires: record.expiry,
            isHTTPOnly: record.isHTTPOnly, isSecure: record.isSecure, sameSite: record.sameSite.attributeValue)
    }
}
