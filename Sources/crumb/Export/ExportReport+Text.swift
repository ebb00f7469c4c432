import Captures
import SessionOperations

extension ExportReport {
    /// What was written, for a person, and what of it the format does not keep.
    var text: [String] {
        var rows = ["\(output.map { "\($0): " } ?? "")\(counted(written, "cookie")) written"]
        if expired > 0 { rows[0] += ", \(expired) expired" }
        if storageItems > 0 { rows[0] += ", \(counted(storageItems, "localStorage item"))" }
        if storageItemsLeftOut > 0 {
            rows.append("  \(format) holds no localStorage: \(counted(storageItemsLeftOut, "item")) left out")
        }
        let order = CookieFeature.allCases.map(\.rawValue)
        let lost = notKept.sorted { (order.firstIndex(of: $0.id) ?? 0) < (order.firstIndex(of: $1.id) ?? 0) }
        if !lost.isEmpty {
            let parts = lost.map { $0.count == written ? $0.title : "\($0.title) (of \($0.count))" }
            rows.append("  \(format) does not keep: \(parts.joined(separator: ", "))")
        }
        return rows
    }

    /// Says what became of the cookies; the command ends with the status that belongs to it.
    func tell(_ console: Console, json: Bool) throws {
        if json {
            // Where there is no file, standard output has the cookies.
            try console.writeJSON(self, toTalk: output == nil)
        } else {
            for line in text { console.note(line) }
        }
        for line in complaints { console.complain(line) }
        if let status { throw status.exitCode }
    }

    /// The status that the command ends with, where it is not success.
    private var status: FailureKind? {
        if !unreadable.isEmpty || storageItemsUnreadable > 0 { return .valueDamaged }
        if !leftOut.isEmpty { return .cookieNotHeld }
        return isNothing ? .nothingToSend : nil
    }
}
