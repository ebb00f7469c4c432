/// A reason for a decision.
public struct ReasonReport: Codable, Equatable, Sendable {
    /// The stable identifier of the reason; `docs/reasons.md` lists them.
    public let id: String
    /// One sentence that explains it.
    public let explanation: String
    /// The remedy that a server or a user can apply.
    public let remedy: String?

    package init(id: String, explanation: String, remedy: String? = nil) {
        self.id = id
        self.explanation = explanation
        self.remedy = remedy
    }
}

/// The outcome of one `Set-Cookie` line, without its value.
public struct StorageDecisionReport: Codable, Sendable {
    /// `stored`, `replaced`, `deleted` or `rejected`.
    public let outcome: String
    /// The cookie.
    public let cookie: CookieIdentityReport?
    /// The reasons.
    public let reasons: [ReasonReport]
    /// The cookies that were evicted.
    public let evicted: [CookieIdentityReport]

    package init(
        outcome: String, cookie: CookieIdentityReport? = nil, reasons: [ReasonReport], evicted: [CookieIdentityReport]
    ) {
        self.outcome = outcome
        self.cookie = cookie
        self.reasons = reasons
        self.evicted = evicted
    }
}

/// The outcome of each `Set-Cookie` line of a response, in order, and the next step if the response says "not signed
/// in".
public struct ResponseDecisions: Codable, Sendable {
    /// The decisions on the lines, in order.
    public let decisions: [StorageDecisionReport]
    /// The next step if the response says "not signed in"; `nil` if it does not.
    public let login: LoginChallengeReport?

    package init(decisions: [StorageDecisionReport], login: LoginChallengeReport? = nil) {
        self.decisions = decisions
        self.login = login
    }
}

/// The outcome of each `Set-Cookie` line of several responses, and the cookies evicted from the jar at the end.
package struct ResponseDecisionsList: Codable, Sendable {
    /// The decisions on each response, in order.
    package let responses: [ResponseDecisions]
    /// The cookies that were evicted.
    package let evicted: [CookieIdentityReport]

    package init(responses: [ResponseDecisions], evicted: [CookieIdentityReport]) {
        self.responses = responses
        self.evicted = evicted
    }
}

/// A change of a cookie.
package struct ChangeReport: Codable, Sendable {
    /// The position in the journal.
    package let position: Int64
    /// When the change was made (RFC 3339).
    package let time: String
    /// The cause of the change.
    package let cause: String
    /// The name.
    package let name: String?
    /// The name in Base64 if it is not UTF-8.
    package let nameBase64: String?
    /// The domain.
    package let domain: String
    /// The path.
    package let path: String
    /// Whether only the host itself gets the cookie.
    package let hostOnly: Bool
    /// The partition; `nil` for a cookie without one.
    package let partitionKey: String?
    /// The URL of the response that made the change, without its query; `nil` if it is unknown.
    package let url: String?
    /// The capture that held the response; `nil` if no capture did.
    package let capture: String?

    package init(
        position: Int64, time: String, cause: String, name: String? = nil, nameBase64: String? = nil, domain: String,
        path: String, hostOnly: Bool, partitionKey: String? = nil, url: String? = nil, capture: String? = nil
    ) {
        self.position = position
        self.time = time
        self.cause = cause
        self.name = name
        self.nameBase64 = nameBase64
        self.domain = domain
        self.path = path
        self.hostOnly = hostOnly
        self.partitionKey = partitionKey
        self.url = url
        self.capture = capture
    }
}

/// A page of a jar's journal.
package struct ChangeList: Codable, Sendable {
    /// The changes, the oldest first.
    package let changes: [ChangeReport]
    /// The position to pass as `after` in the next request.
    package let position: Int64
    /// Whether changes after the requested position are gone, so that the reader has to read the whole jar once.
    package let hasGap: Bool
    /// Whether more changes can be read now.
    package let hasMore: Bool

    package init(changes: [ChangeReport], position: Int64, hasGap: Bool, hasMore: Bool = false) {
        self.changes = changes
        self.position = position
        self.hasGap = hasGap
        self.hasMore = hasMore
    }
}

/// The event that tells a follower that it has missed changes.
package struct MissedChanges: Codable, Sendable {
    /// The follower's position now.
    package let position: Int64

    package init(position: Int64) {
        self.position = position
    }
}

/// An error of the service: the members of problem details (RFC 9457, section 3.1) and the stable code.
public struct ProblemReport: Codable, Sendable {
    /// The type of the problem.
    package let type: String
    /// The title.
    package let title: String
    /// The status of the response.
    public let status: Int
    /// One sentence with the cause and the next step.
    public let detail: String
    /// The stable code; `docs/service.md` lists them.
    public let code: String
    /// The page that the user has to log in on, if a site named one.
    public let loginURL: String?

    package init(title: String, status: Int, detail: String, code: String, loginURL: String? = nil) {
        self.loginURL = loginURL
        type = "about:blank"
        self.title = title
        self.status = status
        self.detail = detail
        self.code = code
    }
}
