package import SessionStore

/// What pruning removed, in JSON.
package struct PruneReport: Codable {
    package let expiredCookies: [String: Int]
    package let waitingCookies: [String: Int]
    package let journalEntries: Int
    package let vacuumed: Bool
    package let freedBytes: Int64

    package init(_ pruning: Pruning) {
        expiredCookies = pruning.expiredCookies
        waitingCookies = pruning.waitingCookies
        journalEntries = pruning.journalEntries
        vacuumed = pruning.wasVacuumed
        freedBytes = pruning.freedBytes
    }

    /// The report for a person.
    package var text: String {
        var lines = expiredCookies.sorted { $0.key < $1.key }.map { jar, count in
            "jar '\(jar)': \(count) expired \(count == 1 ? "cookie" : "cookies") removed"
        }
        lines += waitingCookies.sorted { $0.key < $1.key }.map { jar, count in
            "jar '\(jar)': \(count) expired \(count == 1 ? "cookie stays" : "cookies stay") until the clock has gone on "
                + "for a day"
        }
        if journalEntries > 0 {
            lines.append("journal: \(journalEntries) old \(journalEntries == 1 ? "entry" : "entries") removed")
        }
        if lines.isEmpty { lines.append("nothing to remove") }
        if vacuumed || freedBytes > 0 {
            lines.append("\(freedBytes) bytes given back\(vacuumed ? ", the file written anew" : "")")
        }
        return lines.joined(separator: "\n")
    }
}
