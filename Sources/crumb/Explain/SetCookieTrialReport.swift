import CookieModel

/// A trial in JSON, without values.
struct SetCookieTrialReport: Encodable {
    struct Evicted: Encodable {
        let cookie: CookieReport
        let reason: ReasonReport
    }

    struct Line: Encodable {
        /// Which of the lines given, from 1.
        let line: Int
        let outcome: String
        let name: String?
        /// The cookie as it would be stored.
        let cookie: CookieReport?
        /// Why the line is refused.
        let reasons: [ReasonReport]
        /// Why the request's own URL would not get the cookie.
        let notSent: [ReasonReport]
        let evicted: [Evicted]

        init(_ line: SetCookieTrial.Line, at now: Timestamp) {
            let decision = line.decision
            self.line = line.number
            outcome = decision.outcome.rawValue
            name = decision.name?.description
            cookie = decision.cookie.map { CookieReport($0, at: now) }
            reasons = decision.reasons.reasons.map { ReasonReport($0) }
            notSent = line.staysBehind.reasons.map { ReasonReport($0) }
            evicted = decision.evicted.map {
                Evicted(cookie: CookieReport($0.cookie, at: now), reason: ReasonReport($0.reason))
            }
        }
    }

    let url: String
    let jar: String
    let now: String
    let lines: [Line]

    init(_ trial: SetCookieTrial) {
        url = trial.context.url.description
        jar = trial.jar
        now = trial.now.rfc3339
        lines = trial.lines.map { Line($0, at: trial.now) }
    }
}
