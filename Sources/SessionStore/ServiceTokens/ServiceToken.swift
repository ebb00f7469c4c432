public import CookieModel

/// What is known of an access token of the service. The token itself is known to its bearer alone.
public struct ServiceToken: Sendable, Hashable {
    /// Its number, which no other token of the database ever has.
    package let id: Int64
    /// Its name, which stands in the audit log.
    public let name: String
    /// What its bearer may do.
    public let grant: AccessGrant
    /// When it was made.
    public let creation: Timestamp
    /// When it ends; `nil` for never.
    public let expiry: Timestamp?
    /// When it was revoked; `nil` where it was not.
    public let revocation: Timestamp?
    /// When it was used last, to about an hour; `nil` where it never was.
    public let lastUse: Timestamp?

    /// Whether it opens anything at a moment.
    public func isValid(at now: Timestamp) -> Bool {
        revocation == nil && expiry.map { now < $0 } ?? true
    }
}
