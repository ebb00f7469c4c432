import CookieModel
import SessionOperations

extension SetCookieTrialReport {
    /// The trial for a person: the verdict first, then each line with its reasons and what to do.
    ///
    /// - Parameter request: the request that the lines answer.
    func text(for request: RequestContext) -> String {
        var table = CookieTable(now: Timestamp(rfc3339: now.utf8) ?? .distantPast)
        for line in lines { SetCookieTrialReport.add(line, to: &table) }
        return ([verdict(request), ""] + table.lines).joined(separator: "\n")
    }

    private func verdict(_ request: RequestContext) -> String {
        let outcomes: [StorageDecision.Outcome] = [.stored, .replaced, .deleted, .rejected]
        let counts = outcomes.compactMap { outcome -> String? in
            let count = lines.count { $0.outcome == outcome.rawValue }
            return count == 0 ? nil : "\(count) \(outcome.rawValue)"
        }
        let noun = "\(lines.count) Set-Cookie \(lines.count == 1 ? "line" : "lines")"
        let source = request.interface == .script ? "a script of \(url)" : url
        return "\(noun) from \(source) would be: \(counts.joined(separator: ", ")); "
            + "jar '\(Octets(jar))' is unchanged"
    }

    private static func add(_ line: Line, to table: inout CookieTable) {
        if let cookie = line.cookie {
            table.add(cookie, marked: line.outcome)
        } else {
            let name = line.name.map { $0.isEmpty ? "(no name)" : $0 }
            table.add(name ?? "(line \(line.line))", marked: line.outcome)
        }
        for reason in line.reasons { table.remark(reason) }
        if let deletesStored = line.deletesStored {
            table.remark(
                deletesStored
                    ? "it has expired, so it deletes the stored cookie"
                    : "it has expired, and deletes nothing: no stored cookie has this name, domain and path")
        }
        for reason in line.notSent { table.remark(reason, before: "stored, but not sent to this URL: ") }
        for eviction in line.evicted {
            table.remark(eviction.reason, before: "\(eviction.cookie.label) makes room: ")
        }
    }
}
