public import CookieModel
public import OAuth2

/// A token set as the store keeps it: whose it is, and how often it was changed.
public struct StoredToken: Sendable {
    /// Issuer, client, account and the name that people use.
    public let profile: Profile
    /// The tokens.
    public let tokens: TokenSet
    /// Counts the changes, from 1: for compare-and-swap.
    public let generation: Int64
    /// When the profile was first stored.
    public let creation: Timestamp
    /// When the server said that the grant is lost, so that only a new login helps; `nil` where it did not.
    public let refusal: Timestamp?
    /// Why the ID token was not kept that came with the refresh which gave these tokens; the one before it stayed.
    /// `nil` for tokens that were read, not refreshed.
    public internal(set) var idTokenRefusal: OAuth2Error?

    /// The resource that the access token is for (RFC 8707); `nil` for the login's own.
    public internal(set) var resource: String?

    /// Whether the server may still renew the tokens, as far as is known at `now`.
    public func isRefreshable(at now: Timestamp) -> Bool {
        refusal == nil && tokens.isRefreshable(at: now.microseconds)
    }
}
