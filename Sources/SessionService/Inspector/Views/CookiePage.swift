import CookieModel
import Foundation
import SessionOperations

/// A row of a table of cookies, without the value.
struct CookiePage {
    let name: String
    let domain: String
    let path: String
    /// When the cookie ends, as far as that is not a moment.
    let expires: String
    let moment: MomentView?
    let lifetime: LifetimeView?
    let flags: [String]
    let size: String
    let isUnreadable: Bool
    /// The cookie's key in the form that requests its value; `nil` if there is no value to show.
    let key: String?
    let jarHref: String

    init(_ cookie: Cookie, jarHref: String, showsValue: Bool, isUnreadable: Bool = false, now: Timestamp) {
        name = shownName(cookie.name)
        domain = "\(cookie.isHostOnly ? "" : ".")\(cookie.domain)"
        path = cookie.path.description
        let expiry = cookie.expiry.flatMap { $0 > .distantPast ? $0 : nil }
        expires = expiry.map { Lifetime.distance(to: $0, at: now) } ?? Lifetime(of: cookie, at: now).description
        moment = expiry.map { MomentView($0) }
        lifetime = LifetimeView(from: cookie.creation, to: cookie.expiry, now: now)
        var flags: [String] = []
        if cookie.isSecure { flags.append("Secure") }
        if cookie.isHTTPOnly { flags.append("HttpOnly") }
        if let sameSite = cookie.sameSite.attributeValue { flags.append("SameSite=\(sameSite)") }
        if cookie.isHostOnly { flags.append("host-only") }
        if let partition = cookie.id.partitionKey { flags.append("Partitioned by \(partition.serialized)") }
        if isUnreadable { flags.append("unreadable") }
        self.flags = flags
        size = isUnreadable ? "" : "\(cookie.name.count + cookie.value.count)"
        self.isUnreadable = isUnreadable
        key = showsValue && !isUnreadable ? CookieKey(cookie.id).text : nil
        self.jarHref = jarHref
    }
}

/// A cookie's identity in a form field.
struct CookieKey {
    let text: String
    let host: WebHost?

    init(_ id: Cookie.ID) {
        let parts =
            [Array(id.name), Array(id.domain.octets), [id.isHostOnly ? 1 : 0], Array(id.path)]
            + [Array((id.partitionKey?.serialized ?? "").utf8)]
        text = parts.map { Data($0).base64EncodedString() }.joined(separator: ".")
        host = id.domain
    }

    /// A key that came back; its host names the site.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 5, let domain = Data(base64Encoded: String(parts[1])),
            let host = WebHost(String(decoding: domain, as: UTF8.self))
        else { return nil }
        self.text = text
        self.host = host
    }
}

struct ValueView: InspectorView {
    static let template = "value"
    let title: String
    let caller: CallerView?
    let jar: String
    let href: String
    let name: String
    let domain: String
    let path: String
    let value: String
}

/// A moment as the pages and their script show it: to the second for a person, in full for a program.
struct MomentView: Encodable {
    let datetime: String
    let text: String

    init(_ moment: Timestamp) {
        datetime = moment.rfc3339
        text = Timestamp(seconds: moment.seconds).rfc3339
    }

    /// - Returns: `nil` if the text is no date and time of RFC 3339.
    init?(rfc3339 text: String) {
        guard let moment = Timestamp(rfc3339: text.utf8) else { return nil }
        self.init(moment)
    }
}

/// How much of a lifetime is left, as a bar.
struct LifetimeView {
    let percent: Int

    /// - Returns: `nil` if there is no end, or nothing left.
    init?(from start: Timestamp, to end: Timestamp?, now: Timestamp) {
        guard let end, end > now, end > start else { return nil }
        let whole = Double(end.microseconds) - Double(start.microseconds)
        let left = Double(end.microseconds) - Double(max(now, start).microseconds)
        percent = Int((left / whole * 100).rounded())
    }
}
