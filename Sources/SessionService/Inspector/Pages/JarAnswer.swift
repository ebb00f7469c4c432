import CookieModel
import SessionOperations
import WebPages

/// The outcome of a site's cookies for one request.
struct JarAnswer {
    /// What becomes of a cookie.
    private struct Row {
        let name: String
        let domain: String
        let path: String
        /// `sent` or `unsent`.
        let kind: String
        let label: String
        let reasons: [ReasonReport]
        /// The changes of the cookie.
        let notes: [String]

        var html: HTML {
            """
            <tr><th scope="row">\(name)</th><td>\(domain)</td><td>\(path)</td>\
            <td class="result"><span class="answer \(kind)">\(label)</span>\
            \(reasons.map { HTML.reason($0.explanation, id: $0.id, remedy: $0.remedy) })\
            \(notes.map(HTML.remark))</td></tr>

            """
        }
    }

    private let verdict: String
    private let rows: [Row]
    private let hints: [String]

    /// - Parameter mentions: Whether the answer may name another jar.
    init(_ explanation: Explanation, mentions: (_ jar: String) -> Bool) {
        let isScript = explanation.context.interface == .script
        let report = ExplanationReport(explanation)
        verdict = report.verdict(isScript: isScript)
        let remarks = CookieRemarks(report)
        func row(_ cookie: CookieReport, _ kind: String, _ label: String, _ reasons: [ReasonReport]) -> Row {
            Row(
                name: shownName(cookie.nameOctets), domain: cookie.shownDomain, path: cookie.path, kind: kind,
                label: label, reasons: reasons, notes: remarks.remarks(on: cookie, isSent: kind == "sent"))
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
            + (report.rejected ?? []).map { rejection in
                Row(
                    name: rejection.shownName, domain: rejection.host, path: "", kind: "unsent", label: "rejected",
                    reasons: rejection.reasons, notes: [rejection.sentence(at: explanation.now)])
            }
        hints =
            (explanation.better.map { ["\($0.sent) of them would be sent to \($0.url)"] } ?? [])
            + explanation.lostLogins.map { "\($0.sentence)." }
            + explanation.otherJars.filter { mentions($0.name) }.map { "\($0.sentence)." }
            + (explanation.similarSites.isEmpty
                ? [] : ["The jar has cookies of similar sites: \(explanation.similarSites.joined(separator: ", "))"])
    }

    /// The answer below the form: the verdict, what becomes of each cookie, and hints.
    var html: HTML {
        let table = HTML.table("Result", ["Cookie", "Domain", "Path", "Result"], rows.map(\.html))
        let notes: [HTML] = hints.map { "<p class=\"note\">\($0)</p>" }
        return """
            \(HTML.verdict(verdict))\(rows.isEmpty ? nil : table)\(notes)

            """
    }
}
