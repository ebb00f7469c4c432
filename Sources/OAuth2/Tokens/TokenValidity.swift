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

/// When a token starts and when it ends, in microseconds since the Unix epoch.
public struct TokenLifetime: Sendable, Hashable {
    /// When the token was received or issued.
    public let start: Int64
    /// When the token ends; `nil` if that is unknown.
    public let end: Int64?

    /// A lifetime from its bounds.
    public init(start: Int64, end: Int64?) {
        self.start = start
        self.end = end
    }

    /// The moment from which on the token counts as ``TokenValidity/due``; `nil` if its end is unknown.
    ///
    /// - Parameter skew: How long before its end a token is due. It never takes more than the later half of the
    ///   lifetime, so that a token which lives shorter than the skew is not due from its first moment. A negative skew
    ///   counts as none.
    public func renewal(skew: Duration) -> Int64? {
        end.map { end in
            let half = max(0, Microseconds.difference(end, start)) / 2
            return Microseconds.difference(end, min(max(0, Microseconds.count(of: skew)), half))
        }
    }

    /// Whether the token can be used at `now`, in microseconds since the Unix epoch.
    ///
    /// - Parameter skew: As for ``renewal(skew:)``.
    public func validity(at now: Int64, skew: Duration = .seconds(60)) -> TokenValidity {
        guard let end, let renewal = renewal(skew: skew) else { return .unknown }
        guard now < end else { return .expired }
        return now < renewal ? .valid : .due
    }
}
