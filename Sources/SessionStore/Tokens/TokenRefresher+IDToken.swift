internal import CookieModel
package import OAuth2

/// An ID token that can be presented, with its lifetime.
package struct ValidIDToken: Sendable, Equatable {
    /// The token.
    package let token: Secret
    /// When it was issued and when it ends.
    package let lifetime: TokenLifetime

    /// The ID token of stored tokens.
    ///
    /// - Throws: ``TokenRefreshError`` if there is no ID token, `OAuth2Error` if it cannot be read.
    package init(_ stored: StoredToken) throws {
        guard let token = stored.tokens.idToken else {
            throw TokenRefreshError(
                .settingsMissing, stored.profile.name,
                detail: "no ID token is stored; log in with the scope openid"
                    + "\(command: ": 'crumb token login \(stored.profile.name) --scope \"openid offline_access\"'")")
        }
        self.token = token
        lifetime = try IDTokenClaims(unverified: token).lifetime
    }
}

extension TokenRefresher {
    /// The ID token of a profile, renewed together with the other tokens if it is due.
    ///
    /// An ID token that is still valid is returned if a renewal fails, and also if the last renewal returned no new
    /// one: not every server sends an ID token with a refresh (OpenID Connect Core 1.0, section 12.2).
    ///
    /// - Parameter skew: How long before its end the token is renewed; the refresher's own skew if `nil`.
    /// - Throws: `SessionStoreError`, `OAuth2Error`, or ``TokenRefreshError``.
    package func idToken(_ name: String, skew: Duration? = nil) async throws -> ValidIDToken {
        let skew = skew ?? timing.skew
        let stored = try await store.reading { try $0.get(name) }
        let held = try ValidIDToken(stored)
        // Whether a refresh after it became due has returned no other one.
        let hasAsked = held.lifetime.renewal(skew: skew).map { stored.tokens.receivedAt >= $0 } == true
        switch held.lifetime.validity(at: now(), skew: skew) {
        case .valid, .unknown: return held
        case .due:
            if stored.refusal != nil || hasAsked { return held }
        case .expired:
            guard stored.refusal == nil else { throw TokenRefreshError(.loginRequired, name) }
            // Imported tokens were received when they were imported.
            if hasAsked, try await store.reading({ try $0.credentials(name)?.settings.grant }) != .imported {
                return try living(stored)
            }
        }
        do {
            return try living(try await refreshed(insteadOf: stored))
        } catch {
            guard let latest = try? living(try await store.reading { try $0.get(name) }) else { throw error }
            return latest
        }
    }

    private func living(_ stored: StoredToken) throws -> ValidIDToken {
        let held = try ValidIDToken(stored)
        guard held.lifetime.validity(at: now()) != .expired else {
            throw TokenRefreshError(
                .loginRequired, stored.profile.name,
                detail: "the ID token has expired, and the server sends no new one with a refresh; "
                    + "log in again\(command: " with 'crumb token login \(stored.profile.name)'")")
        }
        return held
    }
}
