package import CookieModel
import SessionStore

extension ExplanationReport {
    package init(_ explanation: Explanation) {
        let now = explanation.now
        let origins = explanation.requestOrigins
        self.init(
            url: explanation.context.url.description, jar: explanation.jar, site: explanation.site, now: now.rfc3339,
            verdict: explanation.context.verdict.map { EngineVerdictReport($0) },
            included: explanation.sent.map { CookieReport($0, at: now, origin: origins[$0.id]) },
            excluded: explanation.unsent.map { unsent in
                Exclusion(
                    cookie: CookieReport(unsent.cookie, at: now, origin: origins[unsent.cookie.id]),
                    reasons: unsent.reasons.reasons.map { ReasonReport($0, of: unsent.cookie) })
            }, changes: explanation.changes.map { ChangeReport($0.change, origin: $0.origin) },
            rejected: explanation.rejections.map { Rejection($0) }, otherJars: explanation.otherJars,
            similarSites: explanation.similarSites, better: explanation.better,
            fields: FieldVerdictReport.all(explanation.fields),
            lostLogins: explanation.lostLogins.isEmpty ? nil : explanation.lostLogins)
    }

    /// How many cookies are in question.
    package var count: Int { included.count + excluded.count }

    /// Summarizes which cookies are sent, in one sentence for a person.
    ///
    /// - Parameter isScript: whether the sentence is about the cookies that a script sees.
    package func verdict(isScript: Bool) -> String {
        let place = "jar '\(Octets(jar))'"
        if count == 0 {
            let consequence = isScript ? "scripts of \(url) see none" : "none is sent to \(url)"
            return "\(place) has no cookie of \(site): \(consequence)\(losses)"
        }
        let verb =
            switch (isScript, included.count == 1) {
            case (false, true): "is sent to"
            case (false, false): "are sent to"
            case (true, true): "is visible to scripts of"
            case (true, false): "are visible to scripts of"
            }
        let cookies = "\(count) \(count == 1 ? "cookie" : "cookies") of \(site) in \(place)"
        return "\(included.count) of \(cookies) \(verb) \(url)\(losses)"
    }

    /// How many more cookies of the site the jar has lost, by cause: "; gone: 1 deleted, 2 expired".
    private var losses: String {
        let counts = CookieChange.Cause.allCases.compactMap { cause -> String? in
            let count = gone.count { $0.cause == cause.identifier }
            return count == 0 ? nil : "\(count) \(cause.identifier)"
        }
        return counts.isEmpty ? "" : "; gone: \(counts.joined(separator: ", "))"
    }

    /// The changes that took a cookie out of the jar.
    package var gone: [ChangeReport] {
        (changes ?? []).filter { $0.cause != CookieChange.Cause.replaced.identifier }
    }

    /// When and by which response a cookie was replaced, for a person; `nil` if the journal has no such change.
    fileprivate func replacement(of cookie: CookieReport) -> String? {
        changes?.first { change in
            change.cause == CookieChange.Cause.replaced.identifier && change.identity == CookieIdentityReport(cookie)
        }?.sentence(at: Timestamp(rfc3339: now.utf8) ?? .distantPast)
    }
}

/// Notes for a person on the cookies of an explanation, in addition to their verdicts.
package struct CookieRemarks {
    private let report: ExplanationReport
    /// How many cookies of each name go.
    private let counts: [Octets: Int]

    package init(_ report: ExplanationReport) {
        self.report = report
        counts = Dictionary(report.included.map { ($0.nameOctets, 1) }, uniquingKeysWith: +)
    }

    /// The remarks on a cookie.
    package func remarks(on cookie: CookieReport, isSent: Bool) -> [String] {
        var remarks: [String] = []
        if cookie.isAssumed {
            remarks.append("name and value come from a request; host-only, path, expiry and flags are assumed")
        }
        // Which of several cookies a server reads is up to the server.
        if isSent, let count = counts[cookie.nameOctets], count > 1 {
            remarks.append(
                "\(count) cookies named \(shownName(cookie.nameOctets)) are sent; most servers read the first")
        }
        return remarks + [report.replacement(of: cookie)].compactMap(\.self)
    }
}

extension ExplanationReport.Rejection {
    init(_ rejection: CookieRejection) {
        let name = OctetsReport(rejection.name)
        self.init(
            name: name.text, nameBase64: name.base64, host: rejection.host.description, time: rejection.time.rfc3339,
            reasons: rejection.reasons.reasons.map { ReasonReport($0) })
    }

    /// The name, for a person.
    package var shownName: String {
        SessionOperations.shownName(OctetsReport(text: name, base64: nameBase64).octets)
    }

    /// Which response was rejected, for a person.
    package func sentence(at now: Timestamp) -> String {
        "from \(host), \(Timestamp(rfc3339: time.utf8).map { Lifetime.past($0, at: now) } ?? time)"
    }
}

extension ExplanationReport.OtherJar {
    /// The cookies that the jar has and the explained one lacks, for a person.
    package var sentence: String {
        let names = (lacking ?? []).map { shown($0) }.joined(separator: ", ")
        return "jar '\(Octets(name))' would send \(counted(sent, "cookie"))"
            + (names.isEmpty ? "" : ", including \(names), which this jar does not send")
    }
}

extension ExplanationReport.LostLogin {
    /// Which login the rule lacks, for a person.
    package var sentence: String {
        "the login '\(Octets(login))' of rule '\(Octets(rule))' "
            + (isStored ? "needs a new login" : "is not stored any more")
    }
}

extension ChangeReport {
    /// Which cookie it is.
    package var identity: CookieIdentityReport { CookieIdentityReport(self) }

    /// The change to the cookie, with its time and the response that made it, for a person.
    package func sentence(at now: Timestamp) -> String {
        let moment = Timestamp(rfc3339: time.utf8).map { Lifetime.past($0, at: now) } ?? time
        let source = [url.map { "by \(shown($0))" }, capture.map { "in \(shown($0))" }].compactMap(\.self)
        let verb =
            switch CookieChange.Cause.allCases.first(where: { $0.identifier == cause }) {
            case .expired: "expired and removed"
            case .evicted: "evicted to make room"
            case .removed: "removed by a crumb command, such as 'session end', or by the API"
            default: cause
            }
        return ([verb, moment] + source).joined(separator: " ")
    }
}
