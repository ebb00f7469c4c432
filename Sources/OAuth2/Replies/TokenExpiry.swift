package import WebPrimitives

/// When tokens end, out of the members by which servers and tools tell it.
///
/// RFC 6749, section 5.1 has `expires_in`, a number of seconds. Strings, fractions and absolute moments are met as
/// well. Nothing here fails: an expiry that cannot be read is unknown, and the token is kept.
struct TokenExpiry {
    /// The names of the members that may contain a token's expiry.
    struct Names {
        let relative: [StaticString]
        let absolute: [StaticString]
        /// Whether a lifetime of less than zero means "never", not "at once". With zero, servers say nothing about it.
        let negativeMeansNever: Bool

        static let accessToken = Names(
            relative: ["expires_in"], absolute: ["expires_at", "expires_on", "expiry", "expiry_date"],
            negativeMeansNever: false)
        /// Not standardized. Keycloak, TikTok and others have the first, with 0 for "never"; GitHub, LinkedIn, eBay,
        /// Microsoft and others the second, Intuit the third, Taobao the fourth; the fifth is that of
        /// draft-ietf-oauth-refresh-token-expiration-03, section 6.1.
        static let refreshToken = Names(
            relative: [
                "refresh_expires_in", "refresh_token_expires_in", "x_refresh_token_expires_in", "re_expires_in",
                "refresh_token_timeout",
            ],
            absolute: [
                "refresh_expires_at", "refresh_token_expires_at", "refresh_expires_on", "refresh_token_expires_on",
            ], negativeMeansNever: true)
        /// The user's authorization itself, however often its tokens are renewed. The first name is that of
        /// draft-ietf-oauth-refresh-token-expiration-03, section 6.1; the second the one that the same proposal began
        /// with, as draft-watson-rt-expiration. No provider's own name is among them: Keycloak's `refresh_expires_in`,
        /// Google's and GitHub's `refresh_token_expires_in` are of the refresh token, Grant Management for OAuth 2.0
        /// has a `grant_id` without an end, and `sharing_expires_at` of Australia's Consumer Data Right is a claim of
        /// ID tokens.
        static let grant = Names(
            relative: ["authorization_expires_in", "consent_expires_in"],
            absolute: ["authorization_expires_at", "consent_expires_at"], negativeMeansNever: true)
    }

    let members: JSONObject

    /// The expiry in a reply that was received just now. A relative expiry takes precedence, because the server's clock
    /// may differ from ours.
    func ofReply(_ names: Names, receivedAt now: Timestamp) -> Timestamp? {
        relative(names, to: now) ?? absolute(names)
    }

    /// The expiry in a reply that was saved some time ago. An absolute expiry takes precedence.
    func ofSavedReply(_ names: Names, receivedAt: Timestamp) -> Timestamp? {
        absolute(names) ?? relative(names, to: receivedAt)
    }

    /// When a saved reply was issued, if it tells (`created_at`, as GitLab and Doorkeeper answer).
    var createdAt: Timestamp? {
        members["created_at"].flatMap(TokenExpiry.moment)
    }

    private func relative(_ names: Names, to start: Timestamp) -> Timestamp? {
        guard let lifetime = members.first(of: names.relative).flatMap(TokenExpiry.microseconds) else { return nil }
        guard lifetime >= 0 else { return names.negativeMeansNever ? nil : start }
        // A token that ends at once would be renewed before every request.
        guard lifetime > 0 else { return nil }
        return start.advanced(by: .microseconds(lifetime))
    }

    private func absolute(_ names: Names) -> Timestamp? {
        for name in names.absolute {
            if let moment = members[name].flatMap(TokenExpiry.moment) { return moment }
        }
        return nil
    }

    /// A moment after the epoch, as RFC 3339 or as Unix time in seconds, or in milliseconds if seconds would lie
    /// after the year 5000. Go writes the year 1 for "none".
    private static func moment(_ value: JSONValue) -> Timestamp? {
        let moment = value.text.flatMap { Timestamp(rfc3339: $0.utf8)?.microseconds } ?? microseconds(value)
        guard let moment, moment > 0 else { return nil }
        return Timestamp(microseconds: moment < 100_000_000_000_000_000 ? moment : moment / 1000)
    }

    /// A number of seconds, or a string that holds one, without its fraction.
    static func wholeSeconds(_ value: JSONValue) -> Int? {
        microseconds(value).map { Int($0 / 1_000_000) }
    }

    /// A number of seconds, or a string that holds one, as a moment (RFC 7519, section 2, "NumericDate").
    static func numericDate(_ value: JSONValue) -> Timestamp? {
        microseconds(value).map(Timestamp.init(microseconds:))
    }

    /// A number of seconds, or a string that holds one, in microseconds.
    private static func microseconds(_ value: JSONValue) -> Int64? {
        if case .number(let number) = value { return number.millionths }
        guard let text = value.text?.trimming({ $0.isWhitespace }) else { return nil }
        // `Double` also takes "nan", "inf" and hexadecimal, which are no numbers of seconds.
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(isNumberCharacter) else { return nil }
        if let whole = Int64(text) { return Timestamp(seconds: whole).microseconds }
        guard let seconds = Double(text), !seconds.isNaN else { return nil }
        let product = (seconds * 1_000_000).rounded()
        return Int64(exactly: product) ?? (product < 0 ? .min : .max)
    }

    private static func isNumberCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x2B, 0x2D, 0x2E, 0x45, 0x65: true
        default: false
        }
    }
}

extension String {
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
        var rest = drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}

/// Whether a token can be used at a given time, by its expiry.
package enum TokenValidity: String, Sendable, CaseIterable {
    /// The token is valid for longer than the skew.
    case valid
    /// The token is still valid, but expires within the skew and should be refreshed.
    case due
    /// The token has expired.
    case expired
    /// The expiry is unknown. Try the token; the resource server rejects an expired one.
    case unknown

    /// Whether the token should be refreshed before its next use.
    package var isDue: Bool { self == .due || self == .expired }
}

/// The start and end of a token's lifetime.
package struct TokenLifetime: Sendable, Hashable {
    /// When the token was received or issued.
    package let start: Timestamp
    /// When the token expires; `nil` if that is unknown.
    package let end: Timestamp?

    /// A lifetime from its bounds.
    package init(start: Timestamp, end: Timestamp?) {
        self.start = start
        self.end = end
    }

    /// The moment from which on the token counts as ``TokenValidity/due``; `nil` if its end is unknown.
    ///
    /// - Parameter skew: How long before its end a token is due. It never takes more than the later half of the
    ///   lifetime, so that a token which lives shorter than the skew is not due from its first moment. A negative skew
    ///   counts as none.
    package func renewal(skew: Duration) -> Timestamp? {
        end.map { end in
            let half = max(.zero, (end - start) / 2)
            return end.advanced(by: .zero - min(max(.zero, skew), half))
        }
    }

    /// Whether the token can be used at `now`.
    ///
    /// - Parameter skew: As for ``renewal(skew:)``.
    package func validity(at now: Timestamp, skew: Duration = .seconds(60)) -> TokenValidity {
        guard let end, let renewal = renewal(skew: skew) else { return .unknown }
        guard now < end else { return .expired }
        return now < renewal ? .valid : .due
    }
}
