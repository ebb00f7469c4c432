public import WebPrimitives

extension Cookie: ValueHiding {
    /// The name, domain and path, without the value: `sid (shop.example/account, value hidden)`.
    public var description: String {
        "\(name) (\(isHostOnly ? "" : ".")\(domain)\(path), value hidden)"
    }

    /// The name as text; `nil` if it is not UTF-8.
    public var nameText: String? { name.utf8String }
    /// The value as text; `nil` if it is not UTF-8.
    public var valueText: String? { value.utf8String }
}

extension CookieRecord: ValueHiding {
    /// The name, domain and path, without the value.
    public var description: String {
        "\(name) (\(isHostOnly ? "" : ".")\(domain)\(path), value hidden)"
    }
}

extension SetCookie: ValueHiding {
    /// The name, without the value and the attributes.
    public var description: String { "Set-Cookie: \(name) (value hidden)" }
}

extension ReceivedResponse: ValueHiding {
    /// The URL without its query, the status and the number of lines.
    public var description: String {
        "\(status) from \(context.url.withoutQuery) (Set-Cookie: \(setCookie.count), values hidden)"
    }
}

extension CookieStore: ValueHiding {
    /// The number of cookies.
    public var description: String { "CookieStore (\(count) cookies)" }
}

extension StorageDecision.Outcome: CustomStringConvertible {
    /// The outcome as reports write it: `stored`.
    public var description: String { rawValue }
}

extension StorageDecision: ValueHiding {
    /// The outcome with the cookie or the reasons: `rejected sid: same-site-none-insecure`.
    public var description: String {
        let subject = cookie?.description ?? name.map { "\($0)" } ?? ""
        return (subject.isEmpty ? "\(outcome)" : "\(outcome) \(subject)") + (reasons.isEmpty ? "" : ": \(reasons)")
    }
}

extension Eviction: CustomStringConvertible {
    /// The cookie without its value, and the reason.
    public var description: String { "evicted \(cookie): \(reason)" }
}
