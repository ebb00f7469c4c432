package import CookieModel

extension Cookie {
    /// The cookie for a person: name, host, path.
    package var label: String {
        "\(shownName(name))  \(isHostOnly ? "" : ".")\(domain)\(path)"
    }
}

extension CookieRecord {
    /// The cookie for a person: name, host, path.
    package var label: String {
        "\(shownName(name))  \(isHostOnly ? "" : ".")\(shown(domain))\(path)"
    }
}

extension CookieIdentityReport {
    /// The cookie for a person: name, host, path.
    package var label: String {
        "\(shownName(nameOctets))  \(hostOnly ? "" : ".")\(shown(domain))\(path)"
    }

    /// The line for a cookie that was evicted.
    package var evictionLine: String {
        "evicted \(label)\(reason.map { ": \($0.explanation) (\($0.id))" } ?? "")"
    }

    /// That the cookie's value cannot be read back, for a person.
    package var unreadableLine: String {
        "\(label): \(ExclusionReason.unreadable.explanation)"
    }
}

extension CookieReport {
    /// The domain for a person: with a dot in front if its subdomains get the cookie, too.
    package var shownDomain: String { hostOnly ? domain : ".\(domain)" }

    /// The cookie for a person: name, host, path.
    package var label: String { "\(shownName(nameOctets))  \(shownDomain)\(path)" }

    /// The flags for a person.
    package var flags: String {
        var flags: [String] = []
        if secure { flags.append("Secure") }
        if httpOnly { flags.append("HttpOnly") }
        if let sameSite { flags.append("SameSite=\(sameSite)") }
        if hostOnly { flags.append("host-only") }
        if partitionKey != nil { flags.append("Partitioned") }
        return flags.isEmpty ? "-" : flags.joined(separator: " ")
    }
}

extension OriginReport {
    /// The origin for a person.
    package var label: String {
        let parts = [kind.map { "\($0)" }, url, capture.map { "in \(Octets($0))" }, received.map { "at \($0)" }]
            .compactMap(\.self)
        return parts.isEmpty ? "-" : parts.joined(separator: " ")
    }
}

/// A cookie's name for a person.
package func shownName(_ name: Octets) -> String {
    shownNames([name.description])
}

/// A number and a noun: "1 cookie", "2 cookies".
package func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}

/// Returns a name that a person chose, without characters that a terminal would interpret.
package func shown(_ name: String) -> String {
    Octets(name).description
}
