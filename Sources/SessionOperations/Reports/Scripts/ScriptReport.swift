package import CookieModel
package import RequestDecoration

/// An injection script in JSON, with what it cannot carry.
package struct ScriptReport: Codable {
    package struct Omission: Codable {
        package let url: String
        package let cookie: CookieReport
        package let reasons: [ReasonReport]
    }

    package let urls: [String]
    package let script: String
    package let cookies: [CookieReport]
    /// Those of ``cookies`` that belong to other paths: no script of the pages can see whether they are set; `nil` from
    /// a service that does not tell.
    package let unverifiable: [CookieIdentityReport]?
    package let omitted: [Omission]

    package init(_ pages: [RequestURL], _ script: InjectionScript) {
        urls = pages.map(\.description)
        self.script = script.source
        cookies = script.cookies.map { CookieReport($0, showingValue: false) }
        unverifiable = script.unverifiable.map { CookieIdentityReport($0) }
        omitted = script.omissions.map { omission in
            Omission(
                url: omission.page.description, cookie: CookieReport(omission.cookie, showingValue: false),
                reasons: zip(omission.identifiers, omission.explanations).map(ReasonReport.init))
        }
    }
}
