import Captures
import SessionOperations

extension ImportReport {
    /// The report for a person.
    var text: String {
        if let alreadyImported {
            return "\(source): imported before, on \(alreadyImported.at) as \(alreadyImported.source); "
                + "nothing was changed (--again imports it again)"
        }
        let isDump = responses == 0 && (lines > 0 || format == CaptureFormat.netscape.rawValue)
        let what =
            isDump
            ? counted(lines, "cookie") : "\(counted(lines, "Set-Cookie line")) in \(counted(responses, "response"))"
        var rows = [
            "\(source): \(what): \(taken) taken, \(replaced) replaced, \(deleted) deleted, "
                + (expired == 0 ? "" : "\(expired) expired, ") + "\(refused.count) refused"
                + (unreadable == 0 ? "" : ", \(unreadable) unreadable")
                + (evicted.isEmpty ? "" : ", \(evicted.count) evicted")
        ]
        for refusal in refused {
            let line = refusal.line.map { ", Set-Cookie \($0)" } ?? ""
            let name = refusal.name.map { $0.isEmpty ? " (no name)" : " '\($0)'" } ?? ""
            let reasons = refusal.reasons.map { "\($0.explanation) (\($0.id))" }.joined(separator: "; ")
            let context = refusal.thirdParty.map { "; third party \($0.label)" } ?? ""
            rows.append("  refused \(refusal.place)\(line)\(name): \(reasons)\(context)")
        }
        if let requestCookies {
            rows.append(
                "  request cookies: \(requestCookies.taken) taken, \(requestCookies.alreadySet) already set"
                    + (requestCookies.thirdParty == 0 ? "" : ", \(requestCookies.thirdParty) of third parties left out")
            )
        }
        if let thirdParties {
            rows.append(
                "  third parties: \(counted(thirdParties.responses, "response")), \(thirdParties.stored) stored "
                    + "(\(thirdParties.partitioned) in a partition), \(thirdParties.refused) refused")
        }
        for cookie in evicted {
            let name = cookie.name.isEmpty ? "(no name)" : "'\(cookie.name)'"
            rows.append(
                "  evicted \(name) of \(cookie.domain)\(cookie.path): \(cookie.reason.explanation) (\(cookie.reason.id))"
            )
        }
        return rows.joined(separator: "\n")
    }
}

extension ImportReport.ThirdParty {
    /// The context for a person: `in a page of https://news.example (sec-fetch)`.
    fileprivate var label: String {
        (topLevel.map { "in a page of \($0)" } ?? "in a page that the capture does not name") + " (\(source))"
    }
}
