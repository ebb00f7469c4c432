import CookieModel
import SessionOperations

/// What becomes of a site's cookies for one request.
struct AnswerView {
    struct Reason {
        let id: String
        let explanation: String
        let remedy: String?
    }

    struct Row {
        let name: String
        let domain: String
        let path: String
        let kind: String
        let label: String
        let reasons: [Reason]
        /// What happened to the cookie.
        let notes: [String]
    }

    let verdict: String
    let rows: [Row]
    let hasRows: Bool
    let hints: [String]

    init(_ explanation: Explanation, mentions: (_ jar: String) -> Bool) {
        let isScript = explanation.context.interface == .script
        let report = ExplanationReport(explanation)
        verdict = report.verdict(isScript: isScript)
        let remarks = CookieRemarks(report)
        func row(_ cookie: CookieReport, _ kind: String, _ label: String, _ reasons: [ReasonReport]) -> Row {
            Row(
                name: shownName(cookie.nameOctets), domain: cookie.shownDomain, path: cookie.path, kind: kind,
                label: label,
                reasons: reasons.map { Reason(id: $0.id, explanation: $0.explanation, remedy: $0.remedy) },
                notes: remarks.remarks(on: cookie, isSent: kind == "sent"))
        }
        rows =
            report.included.map { row($0, "sent", isScript ? "visible" : "sent", []) }
            + report.excluded.map { row($0.cookie, "unsent", isScript ? "hidden" : "not sent", $0.reasons) }
            + report.gone.map { change in
                Row(
                    name: shownName(change.identity.nameOctets),
                    domain: "\(change.hostOnly ? "" : ".")\(change.domain)", path: change.path, kind: "unsent",
                    label: change.cause, reasons: [], notes: [change.sentence(at: explanation.now)])
            }
        hasRows = !rows.isEmpty
        hints =
            (explanation.better.map { ["\($0.sent) of them would go to \($0.url)"] } ?? [])
            + explanation.otherJars.filter { mentions($0.name) }.map {
                "\($0.sentence)."
            }
            + (explanation.similarSites.isEmpty
                ? [] : ["The jar has cookies of similar sites: \(explanation.similarSites.joined(separator: ", "))"])
    }
}
