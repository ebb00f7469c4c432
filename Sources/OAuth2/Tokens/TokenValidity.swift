/// Whether a token can be used at a moment, as far as its expiry tells.
public enum TokenValidity: String, Sendable, CaseIterable {
    /// The token lives longer than the skew.
    case valid
    /// The token still lives, but ends within the skew: time for a refresh.
    case due
    /// The token has ended.
    case expired
    /// The server did not say when the token ends. It can be tried; the resource server's answer tells.
    case unknown
}
