/// The rules of a private HTTP cache: one that serves one user.
///
/// Each algorithm is a function of the request, what is stored, and the time. Sentences of the standard stand above the
/// code that follows them. Sections without another name are those of
/// <https://www.rfc-editor.org/rfc/rfc9111.html>. Departures are marked.
///
/// The cache is never shared. So `private` responses are stored, `s-maxage` is no lifetime, and a request with
/// Authorization is like any other. `s-maxage` and `proxy-revalidate` count in one case: if a server fails, only the
/// policy would permit a stale response.
public struct CachingPolicy: Sendable {
    /// The share of the time since the last modification that a response without an expiration time is fresh for, in
    /// percent (section 4.2.2).
    public var heuristicPercentage: Int64 = 10
    /// The longest such time, in seconds: a week, as in Firefox.
    public var heuristicLimit: Int64 = 7 * 86_400
    /// How long a stale response answers by a built-in rule while the server is asked, in seconds: 30 days.
    public var staleLimit: Int64 = 30 * 86_400
    /// Whether a stale response answers a request if the server cannot be reached, unless the response forbids it, if only
    /// to shared caches (section 4.2.4).
    public var servesStaleWhenDisconnected = false
    /// The rules that come before the protocol.
    public var rules: CachingRules

    /// A policy with the given rules before the protocol.
    public init(rules: CachingRules = .protocolOnly) {
        self.rules = rules
    }
}
