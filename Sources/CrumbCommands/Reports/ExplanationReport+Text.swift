import CookieModel
import SessionOperations

extension ExplanationReport {
    /// The explanation for a person: the verdict first, then each cookie with its remedy, then other places to look.
    ///
    /// - Parameters:
    ///   - request: the request that it is about.
    ///   - database: the place that was asked, which commands to copy name.
    func text(for request: RequestContext, in database: DatabaseOptions) -> String {
        let isScript = request.interface == .script
        let rows = count == 0 && gone.isEmpty && rejections.isEmpty ? [] : [""] + rows(isScript: isScript)
        let head = [verdict(isScript: isScript)] + decision + summary
        return (head + rows + fieldLines + hints(request, database)).joined(separator: "\n")
    }

    /// The browser's decision, and its source.
    private var decision: [String] {
        guard let verdict else { return [] }
        let classes = verdict.classes.isEmpty ? "" : " (\(verdict.classes.joined(separator: ", ")))"
        return ["the browser's decision: \(verdict.text)\(classes), by \(verdict.sourceText)"]
    }

    /// The outcome for each header field of the jar.
    private var fieldLines: [String] {
        let lines = (fields ?? []).map { field in
            let subject = "header field \(field.name) for \(field.scope ?? "all URLs")"
            guard let reason = field.reason else { return "\(subject): sent" }
            return "\(subject): not sent: \(reason.explanation) (\(reason.id))"
        }
        return lines.isEmpty ? [] : [""] + lines
    }

    /// How many of the cookies that are gone get a row, and how many of the rejected ones.
    private static let goneLimit = 10

    /// How many other jars get a line.
    private static let otherJarLimit = 3

    private var rejections: [Rejection] { rejected ?? [] }

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
        for rejection in rejections.prefix(ExplanationReport.goneLimit) {
            table.add(rejection.shownName, marked: "rejected")
            table.remark(rejection.sentence(at: moment))
            for reason in rejection.reasons { table.remark(reason) }
        }
        var lines = table.lines
        let others = gone.count - ExplanationReport.goneLimit
        if others > 0 { lines.append("\(others) more are gone; 'crumb changes' lists them") }
        let moreRejections = rejections.count - ExplanationReport.goneLimit
        if moreRejections > 0 { lines.append("\(moreRejections) more were rejected; --json lists them") }
        return lines
    }

    private func hints(_ request: RequestContext, _ database: DatabaseOptions) -> [String] {
        var hints = otherJars.prefix(ExplanationReport.otherJarLimit).map { other in
            "\(other.sentence): \(database.command("explain", ["--jar", other.name, url]))"
        }
        let moreJars = otherJars.count - ExplanationReport.otherJarLimit
        if moreJars > 0 {
            hints.append(
                "\(counted(moreJars, "more jar")) would send cookies that this jar does not send; --json lists them")
        }
        if !similarSites.isEmpty {
            hints.append("jar '\(Octets(jar))' has cookies of similar sites: \(similarSites.joined(separator: ", "))")
        }
        if let better {
            hints.insert("\(better.sent) of them would be sent to \(better.url)", at: 0)
        }
        let option = jar == "default" ? [] : ["--jar", jar]
        for lost in lostLogins ?? [] {
            let login = database.command("token login", [lost.login])
            // A login that was removed has no settings left.
            let remedy =
                lost.isStored
                ? login
                : "\(login) --issuer URL --client-id ID, or \(database.command("token fallback remove", option + [lost.rule]))"
            hints.append("\(lost.sentence): \(remedy)")
        }
        func command(_ name: String, _ word: String) -> String { database.command(name, option + [word]) }
        let origin = request.url.origin
        if count == 0 {
            // A service has no browser.
            hints +=
                database.asksService
                ? ["Fix: log in at \(origin) in your browser, save its network panel as HAR, then"]
                : [
                    "Fix: log in at \(origin) with", "       \(command("browse", "\(origin)/"))",
                    "     or in your own browser, save its network panel as HAR, then",
                ]
            hints += ["       \(command("import", "FILE"))", "     or with 'crumb curl'"]
        } else if !gone.isEmpty {
            // A service has no browser.
            let means = database.asksService ? "" : ": \(command("browse", "\(origin)/"))"
            hints.append("Fix: if one of the cookies that are gone held the session, log in again\(means)")
        }
        return hints.isEmpty || count == 0 ? hints : [""] + hints
    }
}

extension SetCookieDryRunReport {
    /// The trial for a person: the verdict first, then each line with its reasons and remedies.
    ///
    /// - Parameter request: the request that the lines respond to.
    func text(for request: RequestContext) -> String {
        var table = CookieTable(now: Timestamp(rfc3339: now.utf8) ?? .distantPast)
        for line in lines { SetCookieDryRunReport.add(line, to: &table) }
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

/// Cookies for a person, a row each, with notes below the row.
struct CookieTable {
    /// The moment from which lifetimes are told.
    let now: Timestamp
    private(set) var rows = [["", "NAME", "DOMAIN", "PATH", "EXPIRES", "FLAGS"]]
    /// The remarks below each row.
    private(set) var remarks: [[String]] = [[]]

    /// Adds a cookie with its verdict and the reasons for it.
    mutating func add(_ cookie: CookieReport, marked verdict: String, reasons: [ReasonReport]) {
        add(cookie, marked: verdict)
        for reason in reasons { remark(reason) }
    }

    /// Adds a cookie with its verdict.
    mutating func add(_ cookie: CookieReport, marked verdict: String) {
        // The flags have the site that a partitioned cookie belongs to.
        rows.append([
            verdict, shownName(cookie.nameOctets), cookie.shownDomain, cookie.path,
            Lifetime(of: cookie, at: now).description,
            cookie.flags + (cookie.partitionKey.map { " by \($0)" } ?? ""),
        ])
        remarks.append([])
    }

    /// Adds a cookie of which only the identity is known.
    mutating func add(_ cookie: CookieIdentityReport, marked verdict: String) {
        rows.append([
            verdict, shownName(cookie.nameOctets), "\(cookie.hostOnly ? "" : ".")\(cookie.domain)", cookie.path, "-",
            "-",
        ])
        remarks.append([])
    }

    /// Adds a row that is not a cookie.
    mutating func add(_ name: String, marked verdict: String) {
        rows.append([verdict, name])
        remarks.append([])
    }

    /// Adds a reason below the last row, and how to fix it.
    mutating func remark(_ reason: ReasonReport, before: String = "") {
        remark("\(before)\(reason.explanation) (\(reason.id))")
        if let remedy = reason.remedy { remark("  Fix: \(remedy)") }
    }

    /// Adds a note below the last row.
    mutating func remark(_ text: String) {
        remarks[remarks.count - 1].append((text.hasPrefix(" ") ? "" : "- ") + text)
    }

    /// The lines of the table.
    var lines: [String] {
        let width = rows.map { $0[0].count }.max() ?? 0
        let indentation = String(repeating: " ", count: width + 2)
        let table = Console.table(rows).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return zip(table, remarks).flatMap { row, remarks in [row] + remarks.map { indentation + $0 } }
    }
}
