import CookieModel
import SessionOperations

extension Explanation {
    /// The explanation for a person: the verdict first, then each cookie with what to do, then where else to look.
    var text: String {
        ([verdict] + summary + (count == 0 ? [] : [""] + rows) + hints).joined(separator: "\n")
    }

    /// How often each reason applies, where nobody would count.
    private var summary: [String] {
        guard unsent.count > 3 else { return [] }
        let counts = ExclusionReason.allCases.compactMap { reason -> String? in
            let count = unsent.count { $0.reasons.contains(reason) }
            return count == 0 ? nil : "\(count) \(reason.identifier)"
        }
        return ["of the others: \(counts.joined(separator: ", "))"]
    }

    private var rows: [String] {
        var table = CookieTable(now: now)
        for cookie in sent { table.add(cookie, marked: context.interface == .script ? "visible" : "sent") }
        for entry in unsent {
            table.add(
                entry.cookie, marked: context.interface == .script ? "hidden" : "not sent", reasons: entry.reasons)
        }
        return table.lines
    }

    private var hints: [String] {
        var hints = otherJars.map { other in
            let cookies = "\(other.cookies) \(other.cookies == 1 ? "cookie" : "cookies") of \(site)"
            let command = "crumb explain --jar \(ShellWord(other.name)) \(ShellWord(context.url.description))"
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
            hints.append("to do: log in at \(context.url.origin) in a browser and save its network panel as HAR, then")
            hints.append("         crumb import \(option)FILE")
            hints.append("       or log in with 'crumb curl'")
        }
        return hints.isEmpty || count == 0 ? hints : [""] + hints
    }
}
