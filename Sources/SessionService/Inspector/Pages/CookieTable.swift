import CookieModel
import SessionOperations
import WebPages
import WebPrimitives

/// The cookies of a site, without their values.
struct SiteCookiesView {
    let site: String
    let readable: [Cookie]
    /// The cookies whose values cannot be read back.
    let unreadable: [Cookie]

    var count: Int { readable.count + unreadable.count }
}

/// The tables of a jar's cookies.
extension InspectorPages {
    /// The cookies of a site as a table that opens and closes.
    ///
    /// - Parameters:
    ///   - jar: The jar's name.
    ///   - showsValues: Whether the caller may request values.
    func cookies(_ cookies: SiteCookiesView, of jar: String, showsValues: Bool, isOpen: Bool, now: Timestamp) -> HTML {
        let form = showsValues ? url(.reveal(jar)) : nil
        let rows =
            cookies.readable.map { row($0, revealedBy: form, now: now) }
            + cookies.unreadable.map { row($0, isUnreadable: true, now: now) }
        return .siteDetails(
            cookies.site, summary: counted(rows.count, "cookie"), isOpen: isOpen,
            .table(
                "Cookies of \(cookies.site)",
                ["Name", "Domain", "Path", "Expires", "Flags", .number("Octets"), "Value"], rows + ["\n"]))
    }

    /// - Parameter form: The address that takes the form for the value; `nil` if there is no value to show.
    private func row(
        _ cookie: Cookie, revealedBy form: String? = nil, isUnreadable: Bool = false, now: Timestamp
    ) -> HTML {
        let name = shownName(cookie.name)
        let expiry = cookie.expiry.flatMap { $0 > .distantPast ? $0 : nil }
        let expires = expiry.map { Lifetime.distance(to: $0, at: now) } ?? Lifetime(of: cookie, at: now).description
        let flags: [HTML] = (cookie.pageFlags + (isUnreadable ? ["unreadable"] : [])).map {
            "<span class=\"flag\">\($0)</span> "
        }
        let size: HTML? = isUnreadable ? nil : "\(cookie.name.count + cookie.value.count)"
        let reveal: HTML? = form.map {
            """
            <form method="post" action="\($0)" class="reveal">\
            <input type="hidden" name="cookie" value="\(CookieKey(cookie.id).text)">\
            <button aria-label="Show the value of \(name)">Show</button><output></output></form>
            """
        }
        return """
            <tr\(isUnreadable ? " class=\"unreadable\"" : nil)><th scope="row">\(name)</th>\
            <td>\(cookie.id.shownDomain)</td><td>\(cookie.path.description)</td>\
            <td class="expiry">\(expires) \(HTML.moment(expiry.map { MomentView($0) })) \
            \(HTML.lifetime(from: cookie.creation, to: cookie.expiry, now: now))</td>\
            <td class="flags">\(flags)</td><td class="number">\(size)</td><td>\(reveal)</td></tr>

            """
    }
}

extension Cookie {
    fileprivate var pageFlags: [String] {
        var flags: [String] = []
        if isSecure { flags.append("Secure") }
        if isHTTPOnly { flags.append("HttpOnly") }
        if let sameSite = sameSite.attributeValue { flags.append("SameSite=\(sameSite)") }
        if isHostOnly { flags.append("host-only") }
        if let partition = id.partitionKey { flags.append("Partitioned by \(partition.serialized)") }
        return flags
    }
}

extension Cookie.ID {
    /// The domain for a person: with a dot in front if its subdomains get the cookie, too.
    var shownDomain: String { "\(isHostOnly ? "" : ".")\(domain)" }

    /// The cookie for a person: name and place.
    var label: String { "\(shownName(name)) of \(shownDomain)\(path)" }
}

/// A cookie's identity in a form field.
struct CookieKey {
    let text: String
    let host: WebHost?

    init(_ id: Cookie.ID) {
        let parts =
            [Array(id.name), Array(id.domain.octets), [id.isHostOnly ? 1 : 0], Array(id.path)]
            + [Array((id.partitionKey?.serialized ?? "").utf8)]
        text = parts.map { String(decoding: Base64.encode($0), as: UTF8.self) }.joined(separator: ".")
        host = id.domain
    }

    /// A key that came back; its host names the site.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 5, let domain = Base64.decode(parts[1]),
            let host = WebHost(String(decoding: domain, as: UTF8.self))
        else { return nil }
        self.text = text
        self.host = host
    }
}
