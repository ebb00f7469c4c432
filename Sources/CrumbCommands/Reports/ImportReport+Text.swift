import Captures
import SessionOperations

extension ImportReport {
    /// Prints the report, with everything that went wrong on standard error.
    ///
    /// - Parameter toStandardError: whether all of it goes to standard error, since standard output has data of another kind.
    /// - Returns: the status of the first failure.
    func tell(_ console: Console, toStandardError: Bool = false) throws -> FailureKind? {
        if console.isJSON {
            try console.writeJSON(self, toStandardError: toStandardError)
        } else if lines + storageItems > 0 || alreadyImported != nil || hasRequestCookies
            || responses > 0 && nothingImported == nil && requestCookies == nil
        {
            if toStandardError {
                for line in text.split(separator: "\n") { console.note(String(line)) }
            } else {
                try console.writeLine(text)
            }
        }
        for note in notes { console.note("note: \(note.message)") }
        if omitted.notes > 0 { console.note("note: \(source): \(counted(omitted.notes, "more note"))") }
        for failure in failures {
            let hint = failure.code == FailureKind.urlMissing.code ? " Give it with --url." : ""
            console.error("\(failure.message)\(hint)", FailureKind(code: failure.code))
        }
        if omitted.failures > 0 { console.error("\(source): \(counted(omitted.failures, "more error"))") }
        if let nothingImported { console.error(nothingImported.message, FailureKind(code: nothingImported.code)) }
        return failures.first.map { FailureKind(code: $0.code) }
    }

    private var hasRequestCookies: Bool { requestCookies.map { $0.total > 0 || !refused.isEmpty } ?? false }

    /// The report for a person.
    var text: String {
        if let alreadyImported {
            return "\(source): imported before, on \(alreadyImported.at) as \(alreadyImported.source); "
                + "nothing was changed (--again imports it again)"
        }
        var rows = [summary]
        if !kept.isEmpty {
            let features = CookieFeature.allCases.compactMap { feature in
                kept[feature.rawValue].map { "\(feature.title) of \(counted($0, "cookie"))" }
            }
            rows.append("  kept from the jar, since the file lacks it: \(features.joined(separator: ", "))")
        }
        if lifetimesCut > 0 {
            rows.append(
                "  \(counted(lifetimesCut, "lifetime")) cut to 400 days, the longest that the cookie rules allow")
        }
        if expired > 0 {
            let names = expiredNames.prefix(3) + (expired > 3 ? ["…"] : [])
            let remedy = responses > 0 ? "; `--received-now` counts lifetimes from now" : ""
            rows.append("  \(expired) had expired (\(names.joined(separator: ", ")))\(remedy).")
        }
        for refusal in refused {
            let line = refusal.line.map { ", Set-Cookie \($0)" } ?? ""
            let name = refusal.name.map { $0.isEmpty ? " (no name)" : " '\($0)'" } ?? ""
            let reasons = refusal.reasons.map { "\($0.explanation) (\($0.id))" }.joined(separator: "; ")
            let context = refusal.thirdParty.map { "; third party \($0.label)" } ?? ""
            rows.append("  refused \(refusal.place)\(line)\(name): \(reasons)\(context)")
        }
        if let requestCookies, lines > 0 { rows.append("  request cookies: \(requestCookies.text)") }
        if let thirdParties {
            rows.append(
                "  third parties: \(counted(thirdParties.responses, "response")), \(thirdParties.stored) stored "
                    + "(\(thirdParties.partitioned) in a partition), \(thirdParties.refused) refused")
        }
        if omitted.refused > 0 { rows.append("  refused \(omitted.refused) more") }
        for cookie in evicted {
            let name = cookie.name.isEmpty ? "(no name)" : "'\(cookie.name)'"
            rows.append(
                "  evicted \(name) of \(cookie.domain)\(cookie.path): \(cookie.reason.explanation) (\(cookie.reason.id))"
            )
        }
        if omitted.evicted > 0 { rows.append("  evicted \(omitted.evicted) more") }
        if !evicted.isEmpty {
            rows.append("  'crumb jars settings JAR --limit domain-cookies=NUMBER' changes how many a jar keeps")
        }
        return rows.joined(separator: "\n")
    }

    /// The number of lines, and of each decision.
    private var summary: String {
        let (refusedCount, evictedCount) = (refused.count + omitted.refused, evicted.count + omitted.evicted)
        let losses =
            (unreadable == 0 ? "" : ", \(unreadable) unreadable")
            + (evictedCount == 0 ? "" : ", \(evictedCount) evicted")
            + (witnesses == 0 ? "" : ", \(counted(witnesses, "witness cookie")) left out")
        if lines + storageItems == 0, let requestCookies {
            return "\(source): \(counted(requestCookies.total + refusedCount, "request cookie")) in "
                + "\(counted(responses, "request")): \(requestCookies.text)"
                + (refusedCount == 0 ? "" : ", \(refusedCount) refused") + losses
        }
        let isDump = responses == 0 && (lines + storageItems > 0 || format == CaptureFormat.netscape.rawValue)
        let what =
            isDump
            ? counted(lines, "cookie") : "\(counted(lines, "Set-Cookie line")) in \(counted(responses, "response"))"
        return "\(source): \(what): \(taken) taken, \(replaced) replaced, \(deleted) deleted, "
            + (expired == 0 ? "" : "\(expired) expired, ") + "\(refusedCount) refused" + losses
            + (storageItems == 0 ? "" : ", \(counted(storageItems, "localStorage item"))")
            + (storageItemsLeftOut == 0 ? "" : ", \(counted(storageItemsLeftOut, "localStorage item")) left out")
    }
}

extension ImportReport.RequestCookieCounts {
    /// The outcome of the cookies, for a person.
    fileprivate var text: String {
        let others = [
            (expired, "expired"), (deleted, "deleted by a later response"), (older, "older than the jar's"),
            (duplicates, "of a name that its request sent before"),
            (thirdParty, "of third parties left out"),
        ]
        return
            (["\(taken) taken", "\(alreadySet) already set"]
            + others.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }).joined(separator: ", ")
    }
}

extension ImportReport.ThirdParty {
    /// The context for a person: `in a page of https://news.example (sec-fetch)`.
    fileprivate var label: String {
        (topLevel.map { "in a page of \($0)" } ?? "in a page that the capture does not name") + " (\(source))"
    }
}
