package import CookieModel

/// What became of one line, in JSON, without its value.
package struct StorageDecisionReport: Codable {
    package let outcome: String
    package let cookie: CookieIdentityReport?
    package let reasons: [ReasonReport]
    package let evicted: [CookieIdentityReport]

    /// Whether the line was refused.
    package var isRejected: Bool { outcome == StorageDecision.Outcome.rejected.rawValue }

    package init(_ decision: StorageDecision) {
        outcome = decision.outcome.rawValue
        cookie = decision.cookie.map { CookieIdentityReport($0) }
        reasons = decision.reasons.reasons.map { ReasonReport($0) }
        evicted = decision.evicted.map(CookieIdentityReport.init)
    }
}
