package import CookieModel
package import SessionStore

extension Cookie {
    /// The cookie for a person: name, host, path.
    package var label: String {
        let shownName = name.isEmpty ? "(no name)" : name.description
        return "\(shownName)  \(isHostOnly ? "" : ".")\(domain)\(path)"
    }

    /// The flags for a person.
    package var flags: String {
        var flags: [String] = []
        if isSecure { flags.append("Secure") }
        if isHTTPOnly { flags.append("HttpOnly") }
        if let sameSite = sameSite.attributeValue { flags.append("SameSite=\(sameSite)") }
        if isHostOnly { flags.append("host-only") }
        if id.partitionKey != nil { flags.append("Partitioned") }
        return flags.isEmpty ? "-" : flags.joined(separator: " ")
    }
}

extension CookieRecord {
    /// The cookie for a person: name, host, path.
    package var label: String {
        "\(name.isEmpty ? "(no name)" : name.description)  \(isHostOnly ? "" : ".")\(shown(domain))\(path)"
    }
}

extension Eviction {
    /// The eviction for a person.
    package var line: String {
        "evicted \(cookie.label): \(reason.explanation) (\(reason.identifier))"
    }
}

extension CookieOrigin {
    /// The origin for a person.
    package var label: String {
        let parts = [url, capture.map { "in \(Octets($0))" }, received.map { "at \($0.rfc3339)" }].compactMap(\.self)
        return parts.isEmpty ? "-" : parts.joined(separator: " ")
    }
}

/// A number and a noun: "1 cookie", "2 cookies".
package func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}

/// A name that a person chose, without what a terminal would obey.
package func shown(_ name: String) -> String {
    Octets(name).description
}
