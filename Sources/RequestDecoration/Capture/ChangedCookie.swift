public import CookieModel

/// A cookie as a `change` event of the Cookie Store API shows it: name and value everywhere, the rest in some engines.
public struct ChangedCookie: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value; `nil` for a cookie that went.
    public let value: String?
    /// The domain; `nil` for a host-only cookie, and where the engine does not say.
    public let domain: String?
    /// The path; `nil` where the engine does not say, which leaves open which cookie it is.
    public let path: String?
    /// When it ends; `nil` for a session cookie, and where the engine does not say.
    public let expiry: Timestamp?
    /// Whether it is `Secure`.
    public let isSecure: Bool
    /// The same-site-flag; `default` where the engine does not say.
    public let sameSite: SameSite
    /// Whether it is partitioned.
    public let isPartitioned: Bool

    /// The set-cookie-string that comes to this cookie, or ends it; `nil` where the engine said too little, or what no
    /// such string can say.
    func setCookieLine(deleting: Bool) -> Octets? {
        guard let path, path.hasPrefix("/"), !name.utf8.contains(UInt8(ascii: "=")),
            let value = deleting ? "" : value,
            ![name, value, path, domain ?? ""].contains(where: ChangedCookie.breaksOut)
        else { return nil }
        var line = "\(name)=\(value); Path=\(path)"
        if let domain { line += "; Domain=\(domain)" }
        if deleting {
            line += "; Max-Age=0"
        } else if let expiry {
            line += "; Expires=\(expiry.httpDate)"
        }
        if isSecure { line += "; Secure" }
        if let sameSite = sameSite.attributeValue { line += "; SameSite=\(sameSite)" }
        if isPartitioned { line += "; Partitioned" }
        return Octets(line)
    }

    private static func breaksOut(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: ";") || $0 < 0x20 || $0 == 0x7F }
    }
}
