/// What a caller may do with a jar, or with tokens.
enum AccessVerb: String, Sendable, Hashable, CaseIterable, Codable {
    /// See what there is: names, flags, lifetimes, decisions. No values.
    case read
    /// Change what there is.
    case write
    /// Get what a session consists of: values, Cookie headers, scripts, exports, access tokens.
    case secrets
}
