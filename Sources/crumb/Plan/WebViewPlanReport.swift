import CookieModel
import RequestDecoration
import SessionOperations

/// A plan for a web view in JSON.
struct WebViewPlanReport: Encodable {
    /// One step; of the members beside `step` those that it has.
    struct Step: Encodable {
        let step: String
        var cookies: [NativeCookieDocument]?
        var script: String?
        /// The cookies of the script that scripts of the page cannot see.
        var unverifiable: [CookieIdentityReport]?
        /// How many items of `localStorage` the script sets; left out if it sets none.
        var storageItems: Int?
        var url: String?
        var cookie: String?
        var cookieBase64: String?

        init(_ step: WebViewPlan.Step) {
            switch step {
            case .putIntoStore(let cookies):
                self.step = "put-into-store"
                self.cookies = cookies.map(NativeCookieDocument.init)
            case .installScript(let script):
                self.step = "install-script"
                self.script = script.source
                storageItems = script.storageItemCount == 0 ? nil : script.storageItemCount
                unverifiable = script.unverifiable.isEmpty ? nil : script.unverifiable.map { CookieIdentityReport($0) }
            case .load(let url, let cookie):
                self.step = "load"
                self.url = url.description
                let octets = cookie.map(OctetsReport.init)
                self.cookie = octets?.text
                cookieBase64 = octets?.base64
            case .verify(let cookies):
                self.step = "verify"
                self.cookies = cookies.map(NativeCookieDocument.init)
            }
        }
    }

    struct Omission: Encodable {
        let cookie: CookieReport
        let reasons: [ReasonReport]
    }

    let url: String
    let steps: [Step]
    let omitted: [Omission]

    init(_ plan: WebViewPlan) {
        url = plan.page.description
        steps = plan.steps.map(Step.init)
        omitted = plan.omissions.map { omission in
            Omission(
                cookie: CookieReport(omission.cookie, showingValue: false),
                reasons: [
                    ReasonReport(id: omission.obstacle.rawValue, explanation: omission.obstacle.explanation)
                ])
        }
    }
}
