package import CookieModel
package import SessionStore

/// A reason in JSON.
package struct ReasonReport: Codable, Equatable {
    package let id: String
    package let explanation: String
    /// What a server or a user does about it.
    package var remedy: String?

    package init(_ reason: some DecisionReason) {
        id = reason.identifier
        explanation = reason.explanation
        remedy = reason.remedy
    }

    /// The reason in words for one cookie.
    package init(_ reason: ExclusionReason, of cookie: Cookie) {
        id = reason.identifier
        explanation = reason.explanation(for: cookie)
        remedy = reason.remedy
    }

    package init(id: String, explanation: String) {
        self.id = id
        self.explanation = explanation
    }
}

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

/// What became of the Set-Cookie lines of a response, in order, in JSON, and what there is to do where it says "not signed
/// in".
package struct ResponseDecisions: Codable, Sendable {
    package let decisions: [StorageDecisionReport]
    package let login: LoginChallengeReport?

    package init(decisions: [StorageDecisionReport], login: LoginChallengeReport? = nil) {
        self.decisions = decisions
        self.login = login
    }
}

/// A change in JSON.
package struct ChangeReport: Codable {
    package let position: Int64
    package let time: String
    package let cause: String
    package let name: String?
    package let nameBase64: String?
    package let domain: String
    package let path: String
    package let hostOnly: Bool
    package let partitionKey: String?
    /// The URL of the response that did it, without its query; only where it is known.
    package let url: String?
    /// The capture that the response came out of; only where it came out of one.
    package let capture: String?

    /// - Parameter origin: where the cookie's present value came from, for a change that left the cookie in the jar.
    package init(_ change: CookieChange, origin: CookieOrigin? = nil) {
        position = change.position
        time = change.time.rfc3339
        cause = change.cause.identifier
        let name = OctetsReport(change.cookie.name)
        self.name = name.text
        nameBase64 = name.base64
        domain = change.cookie.domain.description
        path = change.cookie.path.description
        hostOnly = change.cookie.isHostOnly
        partitionKey = change.cookie.partitionKey?.serialized
        url = change.url ?? origin?.url
        capture = change.capture ?? origin?.capture
    }
}

/// A page of a jar's journal, in JSON.
package struct ChangeList: Codable {
    package let changes: [ChangeReport]
    /// The position to ask for next.
    package let position: Int64
    /// Whether changes after the position asked for are gone, so that the whole jar has to be looked at once.
    package let hasGap: Bool
    /// Whether there is more to read already.
    package let hasMore: Bool

    /// A page that has come by itself.
    package init(changes: [ChangeReport], position: Int64, hasGap: Bool) {
        self.changes = changes
        self.position = position
        self.hasGap = hasGap
        hasMore = false
    }

    package init(_ page: ChangePage) {
        changes = page.changes.map { ChangeReport($0) }
        position = page.position
        hasGap = page.hasGap
        hasMore = page.hasMore
    }
}
