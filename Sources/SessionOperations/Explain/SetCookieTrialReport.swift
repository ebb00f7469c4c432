package import CookieModel

/// A trial in JSON, without values.
package struct SetCookieTrialReport: Codable {
    package struct Evicted: Codable {
        package let cookie: CookieReport
        package let reason: ReasonReport
    }

    package struct Line: Codable {
        /// Which of the lines given, from 1.
        package let line: Int
        package let outcome: String
        package let name: String?
        /// The cookie as it would be stored.
        package let cookie: CookieReport?
        /// Why the line is refused.
        package let reasons: [ReasonReport]
        /// Why the request's own URL would not get the cookie.
        package let notSent: [ReasonReport]
        package let evicted: [Evicted]
        /// Whether a stored cookie goes; only where the line deletes.
        package let deletesStored: Bool?

        package init(_ line: SetCookieTrial.Line, at now: Timestamp) {
            let decision = line.decision
            self.line = line.number
            outcome = decision.outcome.rawValue
            name = decision.name?.description
            cookie = decision.cookie.map { CookieReport($0, at: now) }
            reasons = decision.reasons.reasons.map { ReasonReport($0) }
            notSent = line.staysBehind.reasons.map { reason in
                decision.cookie.map { ReasonReport(reason, of: $0) } ?? ReasonReport(reason)
            }
            evicted = decision.evicted.map {
                Evicted(cookie: CookieReport($0.cookie, at: now), reason: ReasonReport($0.reason))
            }
            deletesStored = decision.outcome == .deleted ? decision.previous != nil : nil
        }
    }

    package let url: String
    package let jar: String
    package let now: String
    package let lines: [Line]

    package init(_ trial: SetCookieTrial) {
        url = trial.context.url.description
        jar = trial.jar
        now = trial.now.rfc3339
        lines = trial.lines.map { Line($0, at: trial.now) }
    }
}
