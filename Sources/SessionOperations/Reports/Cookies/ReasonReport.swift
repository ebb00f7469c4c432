package import CookieModel

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
