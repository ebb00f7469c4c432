package import CookieModel

/// The outcome that Set-Cookie lines would have in a jar, determined on a copy in memory.
package struct SetCookieDryRun {
    /// The outcome that one line would have.
    package struct Line {
        package let number: Int
        package let decision: StorageDecision
        /// Why the same request would not carry the cookie once it is stored; empty if it would.
        package let staysBehind: ReasonSet<ExclusionReason>
    }

    package let context: RequestContext
    package let jar: String
    package let now: Timestamp
    /// The outcome that each line would have, in order.
    package let lines: [Line]

    /// Receives the lines in order as one response, or as a script's, in a jar that holds `cookies`.
    package init(
        _ lines: [Octets], _ context: RequestContext, jar: String, policy: CookiePolicy, cookies: [Cookie],
        now: Timestamp
    ) {
        self.context = context
        self.jar = jar
        self.now = now
        var store = CookieStore(policy: policy, cookies: cookies, now: now)
        let decisions = lines.map { store.receive($0, in: context, now: now) }
        let excluded = Dictionary(
            store.retrieve(for: context, now: now).excluded.map { ($0.cookie.id, $0.reasons) },
            uniquingKeysWith: { first, _ in first })
        self.lines = decisions.enumerated().map { index, decision in
            let reasons = decision.cookie.flatMap { excluded[$0.id] }
            let isKept = decision.outcome == .stored || decision.outcome == .replaced
            return Line(number: index + 1, decision: decision, staysBehind: isKept ? reasons ?? [] : [])
        }
    }
}

extension SetCookieDryRunReport {
    package init(_ trial: SetCookieDryRun) {
        self.init(
            url: trial.context.url.description, jar: trial.jar, now: trial.now.rfc3339,
            lines: trial.lines.map { Line($0, at: trial.now) })
    }
}

extension SetCookieDryRunReport.Line {
    fileprivate init(_ line: SetCookieDryRun.Line, at now: Timestamp) {
        let decision = line.decision
        self.init(
            line: line.number, outcome: decision.outcome.rawValue, name: decision.name?.description,
            cookie: decision.cookie.map { CookieReport($0, at: now) },
            reasons: decision.reasons.reasons.map { ReasonReport($0) },
            notSent: line.staysBehind.reasons.map { reason in
                decision.cookie.map { ReasonReport(reason, of: $0) } ?? ReasonReport(reason)
            },
            evicted: decision.evicted.map {
                SetCookieDryRunReport.Evicted(
                    cookie: CookieReport($0.cookie, at: now), reason: ReasonReport($0.reason))
            }, deletesStored: decision.outcome == .deleted ? decision.previous != nil : nil)
    }
}
