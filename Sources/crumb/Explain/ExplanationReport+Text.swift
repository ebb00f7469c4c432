import CookieModel
import SessionOperations

extension ExplanationReport {
    /// The explanation for a person: the verdict first, then each cookie with what to do, then where else to look.
    ///
    /// - Parameter request: the request that it is about.
    func text(for request: RequestContext) -> String {
        let isScript = request.interface == .script
        let rows = count == 0 ? [] : [""] + rows(isScript: isScript)
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

    /// How often each reason applies, where nobody would count.
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
        for cookie in included { table.add(cookie, marked: isScript ? "visible" : "sent") }
        for exclusion in excluded {
            table.add(exclusion.cookie, marked: isScript ? "hidden" : "not sent", reasons: exclusion.reasons)
        }
        return table.lines
    }

    private func hints(_ request: RequestContext) -> [String] {
        var hints = otherJars.map { other in
            let cookies = "\(other.cookies) \(other.cookies == 1 ? "cookie" : "cookies") of \(site)"
            let command = "crumb explain --jar \(ShellWord(other.name)) \(ShellWord(url))"
            return "jar '\(Octets(other.name))' has \(cookies), \(other.sent) of which would go: \(command)"
        }
        if !similarSites.isEmpty {
            hints.append("jar '\(Octets(jar))' has cookies of similar sites: \(similarSites.joined(separator: ", "))")
        }
        if let better {
            hints.insert("\(better.sent) of them would go to \(better.url)", at: 0)
        }
        if count == 0 {
            let option = jar == "default" ? "" : "--jar \(ShellWord(jar)) "
            hints.append("to do: log in at \(request.url.origin) in a browser and save its network panel as HAR, then")
            hints.append("         crumb import \(option)FILE")
            hints.append("       or log in with 'crumb curl'")
        }
        return hints.isEmpty || count == 0 ? hints : [""] + hints
    }
}
