import CookieModel

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
