import CookieModel

/// An explanation in JSON, without values.
struct ExplanationReport: Encodable {
    struct Exclusion: Encodable {
        let cookie: CookieReport
        let reasons: [ReasonReport]
    }

    let url: String
    let jar: String
    let site: String
    /// The time that lifetimes are told from.
    let now: String
    let included: [CookieReport]
    let excluded: [Exclusion]
    let otherJars: [Explanation.OtherJar]
    let similarSites: [String]
    /// A URL that would get more of the cookies.
    let better: Explanation.Alternative?

    init(_ explanation: Explanation) {
        let now = explanation.now
        url = explanation.context.url.description
        jar = explanation.jar
        site = explanation.site
        self.now = now.rfc3339
        included = explanation.sent.map { CookieReport($0, at: now) }
        excluded = explanation.unsent.map { unsent in
            Exclusion(
                cookie: CookieReport(unsent.cookie, at: now), reasons: unsent.reasons.reasons.map { ReasonReport($0) })
        }
        otherJars = explanation.otherJars
        similarSites = explanation.similarSites
        better = explanation.better
    }
}
