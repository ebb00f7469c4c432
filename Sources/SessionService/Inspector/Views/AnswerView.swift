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
    }

    let verdict: String
    let rows: [Row]
    let hasRows: Bool
    let hints: [String]

    init(_ explanation: Explanation, mentions: (_ jar: String) -> Bool) {
        let isScript = explanation.context.interface == .script
        verdict = ExplanationReport(explanation).verdict(isScript: isScript)
        rows =
            explanation.sent.map { AnswerView.row($0, "sent", isScript ? "visible" : "sent", []) }
            + explanation.unsent.map { unsent in
                AnswerView.row(
                    unsent.cookie, "unsent", isScript ? "hidden" : "not sent",
                    unsent.reasons.reasons.map {
                        Reason(id: $0.identifier, explanation: $0.explanation, remedy: $0.remedy)
                    })
            }
        hasRows = !rows.isEmpty
        hints =
            (explanation.better.map { ["\($0.sent) of them would go to \($0.url)"] } ?? [])
            + explanation.otherJars.filter { mentions($0.name) }.map {
                "Jar \(Octets($0.name)) has \(counted($0.cookies, "cookie")) of this site, \($0.sent) of which would go."
            }
            + (explanation.similarSites.isEmpty
                ? [] : ["The jar has cookies of similar sites: \(explanation.similarSites.joined(separator: ", "))"])
    }

    private static func row(_ cookie: Cookie, _ kind: String, _ label: String, _ reasons: [Reason]) -> Row {
        Row(
            name: shownName(cookie.name),
            domain: "\(cookie.isHostOnly ? "" : ".")\(cookie.domain)", path: cookie.path.description, kind: kind,
            label: label, reasons: reasons)
    }
}
