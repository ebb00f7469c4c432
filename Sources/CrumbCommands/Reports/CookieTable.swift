import CookieModel
import SessionOperations

/// Cookies for a person, a row each, with notes below the row.
struct CookieTable {
    private let now: Timestamp
    private var rows = [["", "NAME", "DOMAIN", "PATH", "EXPIRES", "FLAGS"]]
    /// The remarks below each row.
    private var remarks: [[String]] = [[]]

    /// An empty table, with lifetimes told from `now`.
    init(now: Timestamp) {
        self.now = now
    }

    /// Adds a cookie with its verdict and the reasons for it.
    mutating func add(_ cookie: CookieReport, marked verdict: String, reasons: [ReasonReport]) {
        add(cookie, marked: verdict)
        for reason in reasons { remark(reason) }
    }

    /// Adds a cookie with its verdict.
    mutating func add(_ cookie: CookieReport, marked verdict: String) {
        rows.append([
            verdict, shownName(cookie.nameOctets), cookie.shownDomain, cookie.path,
            Lifetime(of: cookie, at: now).description, CookieTable.flags(cookie),
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

    /// The flags, with the site that a partitioned cookie belongs to.
    private static func flags(_ cookie: CookieReport) -> String {
        cookie.flags + (cookie.partitionKey.map { " by \($0)" } ?? "")
    }

    /// The lines of the table.
    var lines: [String] {
        let width = rows.map { $0[0].count }.max() ?? 0
        let indentation = String(repeating: " ", count: width + 2)
        let table = Console.table(rows).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return zip(table, remarks).flatMap { row, remarks in [row] + remarks.map { indentation + $0 } }
    }
}
