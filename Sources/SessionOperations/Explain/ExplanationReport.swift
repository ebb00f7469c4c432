import CookieModel

/// An explanation in JSON, without values.
package struct ExplanationReport: Codable {
    package struct Exclusion: Codable {
        package let cookie: CookieReport
        package let reasons: [ReasonReport]
    }

    package let url: String
    package let jar: String
    package let site: String
    /// The time that lifetimes are told from.
    package let now: String
    package let included: [CookieReport]
    package let excluded: [Exclusion]
    /// The newest change of each cookie of the site that is gone or was replaced, the latest first; `nil` from a service
    /// that does not tell.
    package let changes: [ChangeReport]?
    package let otherJars: [Explanation.OtherJar]
    package let similarSites: [String]
    /// A URL that would get more of the cookies.
    package let better: Explanation.Alternative?
    /// What becomes of the jar's header fields; only where it has any.
    package let fields: [FieldVerdictReport]?

    package init(_ explanation: Explanation) {
        let now = explanation.now
        url = explanation.context.url.description
        jar = explanation.jar
        site = explanation.site
        self.now = now.rfc3339
        let origins = explanation.requestOrigins
        included = explanation.sent.map { CookieReport($0, at: now, origin: origins[$0.id]) }
        excluded = explanation.unsent.map { unsent in
            Exclusion(
                cookie: CookieReport(unsent.cookie, at: now, origin: origins[unsent.cookie.id]),
                reasons: unsent.reasons.reasons.map { ReasonReport($0, of: unsent.cookie) })
        }
        changes = explanation.changes.map { ChangeReport($0.change, origin: $0.origin) }
        otherJars = explanation.otherJars
        similarSites = explanation.similarSites
        better = explanation.better
        fields = FieldVerdictReport.all(explanation.fields)
    }
}
