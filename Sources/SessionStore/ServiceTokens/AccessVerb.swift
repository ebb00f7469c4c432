/// What a caller of the service may do with a jar, or with tokens.
public enum AccessVerb: String, Sendable, Hashable, CaseIterable, Codable {
    /// See what there is: names, flags, lifetimes, decisions. No values.
    case read
    /// Change what there is.
    case write
    /// Get what a session consists of: values, Cookie headers, scripts, exports, access tokens.
    case secrets
}
