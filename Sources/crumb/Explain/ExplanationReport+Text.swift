import CookieModel
import SessionOperations

extension ExplanationReport {
    /// The explanation for a person: the verdict first, then each cookie with what to do, then where else to look.
    ///
    /// - Parameter request: the request that it is about.
    func text(for request: RequestContext) -> String {
        let isScript = request.interface == .script
        let rows = count == 0 && gone.isEmpty ? [] : [""] + rows(isScript: isScript)
        return ([verdict(isScript: isScript)] + summary + rows + fieldLines + hints(request)).joined(separator: "\n")
    }

    /// What becomes of each header field of the jar.
    private var fieldLines: [String] {
        let lines = (fields ?? []).map { field in
            let subject = "header field \(field.name) for \(field.scope ?? "all URLs")"
            guard let reason = field.reason else { return "\(subject): sent" }
            return "\(subject): not sent: \(reason.explanation) (\(reason.id))"
        }
        return lines.isEmpty ? [] : [""] + lines
    }

    /// How many of the cookies that are gone get a row.
    private static let goneLimit = 10

    /// How often each reason applies, if there are too many to count.
    private var summary: [String] {
        guard excluded.count > 3 else { return [] }
        let counts = ExclusionReason.allCases.compactMap { reason -> String? in
            let count = excluded.count { exclusion in exclusion.reasons.contains { $0.id == reason.identifier } }
            return count == 0 ? nil : "\(count) \(reason.identifier)"
        }
        return ["of the others: \(counts.joined(separator: ", "))"]
    }

    private func rows(isScript: Bool) -> [String] {
        var table = CookieTable(now: Timestamp(rfc3339: now.utf8) ?? .distantPast)
        let remarks = CookieRemarks(self)
        for cookie in included {
            table.add(cookie, marked: isScript ? "visible" : "sent")
            for remark in remarks.remarks(on: cookie, isSent: true) { table.remark(remark) }
        }
        for exclusion in excluded {
            table.add(exclusion.cookie, marked: isScript ? "hidden" : "not sent", reasons: exclusion.reasons)
            for remark in remarks.remarks(on: exclusion.cookie, isSent: false) { table.remark(remark) }
        }
        let moment = Timestamp(rfc3339: now.utf8) ?? .distantPast
        for change in gone.prefix(ExplanationReport.goneLimit) {
            table.add(change.identity, marked: change.cause)
            table.remark(change.sentence(at: moment))
        }
        let others = gone.count - ExplanationReport.goneLimit
        guard others > 0 else { return table.lines }
        return table.lines + ["\(others) more are gone; 'crumb changes' lists them"]
    }

    private func hints(_ request: RequestContext) -> [String] {
        var hints = otherJars.map { other in
            let command = "crumb explain --jar \(ShellWord(other.name)) \(ShellWord(url))"
            return "\(other.sentence): \(command)"
        }
        if !similarSites.isEmpty {
            hints.append("jar '\(Octets(jar))' has cookies of similar sites: \(similarSites.joined(separator: ", "))")
        }
        if let better {
            hints.insert("\(better.sent) of them would go to \(better.url)", at: 0)
        }
        if count == 0 {
            let option = jar == "default" ? "" : "--jar \(ShellWord(jar)) "
            hints.append("Fix: log in at \(request.url.origin) in a browser and save its network panel as HAR, then")
            hints.append("       crumb import \(option)FILE")
            hints.append("     or log in with 'crumb curl'")
        }
        return hints.isEmpty || count == 0 ? hints : [""] + hints
    }
}
