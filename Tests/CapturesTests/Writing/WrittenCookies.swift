import CookieModel
import Foundation

@testable import Captures

/// Reads an export as the tools it is for do, apart from the project's own readers where there is another way.
struct WrittenCookies {
    struct Unreadable: Error {}

    /// The cookies, with the value that stands for "not said" where the format does not tell.
    private(set) var records: [CookieRecord] = []

    init(_ bytes: [UInt8], _ format: ExportFormat) throws {
        switch format {
        case .netscape: records = WrittenCookies.netscape(bytes)
        case .json: records = Capture(bytes: bytes).cookies
        case .har:
            for response in Capture(bytes: bytes).responses {
                records += try response.setCookie.map { try WrittenCookies.setCookie($0, url: response.url) }
            }
        case .setCookie:
            records = try bytes.split(separator: 0x0A).map { line in
                try WrittenCookies.setCookie(Octets(line.dropFirst("Set-Cookie: ".utf8.count)), url: "https://a.test/")
            }
        case .header: records = WrittenCookies.header(bytes)
        case .curl: records = WrittenCookies.header(try WrittenCookies.curl(bytes))
        case .storageState:
            let objects = try WrittenCookies.object(bytes)["cookies"] as? [[String: Any]] ?? []
            records = try objects.map { try WrittenCookies.cookie($0, expiry: "expires") }
        case .webDriver:
            let objects = try JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]] ?? []
            records = try objects.map { try WrittenCookies.cookie($0, expiry: "expiry") }
        case .httpieSession:
            let objects = try WrittenCookies.object(bytes)["cookies"] as? [[String: Any]] ?? []
            records = try objects.map(WrittenCookies.httpie)
        }
    }

    /// A later line takes the place of an earlier one for the same cookie, as in every cookie jar.
    private static func netscape(_ bytes: [UInt8]) -> [CookieRecord] {
        var records: [CookieRecord] = []
        for record in Capture(bytes: bytes).cookies {
            if let last = records.last, last.name == record.name, last.domain == record.domain, !last.isHTTPOnly,
                last.isHostOnly == record.isHostOnly, last.path == record.path
            {
                records.removeLast()
            }
            records.append(record)
        }
        return records
    }

    /// By the rules of the draft, at a moment long ago, so that no lifetime is over or too long.
    private static func setCookie(_ line: Octets, url: String) throws -> CookieRecord {
        var policy = CookiePolicy()
        policy.lifetimeLimit = .max
        var store = CookieStore(policy: policy)
        store.receive(line, in: RequestContext(url: try RequestURL(url)), now: Timestamp(seconds: 0))
        guard let cookie = store.cookies.first else { throw Unreadable() }
        var record = CookieRecord(cookie)
        record.creation = nil
        record.lastAccess = nil
        return record
    }

    private static func header(_ bytes: [UInt8]) -> [CookieRecord] {
        let field = String(decoding: bytes, as: UTF8.self)
        guard field.hasPrefix("Cookie: "), field.hasSuffix("\n") else { return [] }
        return field.dropFirst("Cookie: ".count).dropLast().split(separator: "; ").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return CookieRecord(
                name: Octets(String(parts[0])), value: Octets(String(parts.count == 2 ? parts[1] : "")), domain: "",
                isHostOnly: false)
        }
    }

    /// The header that a configuration file gives, its quotes taken away.
    private static func curl(_ bytes: [UInt8]) throws -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let start = Array("header = \"".utf8)
        guard bytes.starts(with: start), bytes.suffix(2) == [0x22, 0x0A] else { throw Unreadable() }
        var value: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst(start.count).dropLast(2) {
            if byte == ASCII.backslash, !isEscaped {
                isEscaped = true
            } else {
                value.append(byte)
                isEscaped = false
            }
        }
        return value + [0x0A]
    }

    private static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
    }

    /// As a browser's protocol takes it; without a domain it is a cookie of the page's host.
    private static func cookie(_ object: [String: Any], expiry: String) throws -> CookieRecord {
        guard let name = object["name"] as? String, let value = object["value"] as? String,
            let path = object["path"] as? String, let isSecure = object["secure"] as? Bool,
            let isHTTPOnly = object["httpOnly"] as? Bool
        else { throw Unreadable() }
        let domain = object["domain"] as? String ?? "a.test"
        var record = CookieRecord(
            name: Octets(name), value: Octets(value),
            domain: domain.hasPrefix(".") ? String(domain.dropFirst()) : domain,
            isHostOnly: !domain.hasPrefix("."), path: Octets(path), isSecure: isSecure, isHTTPOnly: isHTTPOnly)
        record.sameSite =
            SameSite.allCases.first { $0.attributeValue != nil && $0.attributeValue == object["sameSite"] as? String }
            ?? .default
        if let end = object[expiry] as? NSNumber, end != -1 {
            record.expiry = Timestamp(microseconds: Int64((end.doubleValue * 1_000_000).rounded()))
        }
        if let site = object["partitionKey"] as? String {
            record.partitionKey = PartitionKey(
                topLevelSite: site, hasCrossSiteAncestor: object["_crHasCrossSiteAncestor"] as? Bool ?? false)
        }
        return record
    }

    /// As Python's cookie jar takes it: only an address has no hosts below it.
    private static func httpie(_ object: [String: Any]) throws -> CookieRecord {
        guard let name = latin1(object["name"]), let value = latin1(object["value"]), let path = latin1(object["path"]),
            var domain = object["domain"] as? String, let isSecure = object["secure"] as? Bool
        else { throw Unreadable() }
        if domain.hasPrefix(".") { domain.removeFirst() }
        if domain.hasSuffix(".local") { domain.removeLast(".local".count) }
        var record = CookieRecord(
            name: name, value: value, domain: domain, isHostOnly: WebHost(domain)?.isIPAddress == true, path: path,
            isSecure: isSecure)
        record.expiry = (object["expires"] as? NSNumber).map { Timestamp(seconds: $0.int64Value) }
        return record
    }

    private static func latin1(_ text: Any?) -> Octets? {
        guard let text = text as? String else { return nil }
        let units = text.unicodeScalars.map { UInt8(exactly: $0.value) }
        return units.contains(nil) ? nil : Octets(units.compactMap(\.self))
    }
}
