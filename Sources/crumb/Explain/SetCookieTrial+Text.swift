import CookieModel
import SessionOperations

extension SetCookieTrial {
    /// The trial for a person: the verdict first, then each line with its reasons and what to do.
    var text: String {
        var table = CookieTable(now: now)
        for line in lines { add(line, to: &table) }
        return ([verdict, ""] + table.lines).joined(separator: "\n")
    }

    private var verdict: String {
        let outcomes: [StorageDecision.Outcome] = [.stored, .replaced, .deleted, .rejected]
        let counts = outcomes.compactMap { outcome -> String? in
            let count = lines.count { $0.decision.outcome == outcome }
            return count == 0 ? nil : "\(count) \(outcome.rawValue)"
        }
        let noun = "\(lines.count) Set-Cookie \(lines.count == 1 ? "line" : "lines")"
        let source = context.interface == .script ? "a script of \(context.url)" : "\(context.url)"
        return "\(noun) from \(source) would be: \(counts.joined(separator: ", ")); "
            + "jar '\(Octets(jar))' is as it was"
    }

    private func add(_ line: Line, to table: inout CookieTable) {
        let decision = line.decision
        if let cookie = decision.cookie {
            table.add(cookie, marked: decision.outcome.rawValue)
        } else {
            let name = decision.name.map { $0.isEmpty ? "(no name)" : $0.description }
            table.add(name ?? "(line \(line.number))", marked: decision.outcome.rawValue)
        }
        for reason in decision.reasons.reasons { table.remark(reason) }
        if decision.outcome == .deleted {
            table.remark(
                decision.previous == nil
                    ? "its lifetime is over, and there is no stored cookie that it could delete: name, domain and path "
                        + "must be the same"
                    : "its lifetime is over: the stored cookie goes")
        }
        for reason in line.staysBehind.reasons { table.remark(reason, before: "stored, but not sent to this URL: ") }
        for eviction in decision.evicted {
            table.remark(eviction.reason, before: "\(eviction.cookie.label) makes room: ")
        }
    }
}
