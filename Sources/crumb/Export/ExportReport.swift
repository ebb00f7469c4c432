import Captures
import CookieModel

/// What became of every cookie of an export.
struct ExportReport: Encodable {
    /// A cookie that the format cannot hold.
    struct LeftOut: Encodable {
        let cookie: CookieIdentityReport
        let reason: ReasonReport
    }

    /// A property that the format has no place for.
    struct NotKept: Encodable {
        let id: String
        let title: String
        let consequence: String
        var count = 0
        /// The cookies that have it, as many as are named.
        var cookies: [CookieIdentityReport] = []

        init(_ feature: CookieFeature) {
            id = feature.rawValue
            title = feature.title
            consequence = feature.consequence
        }
    }

    /// How many cookies are named for each property that was not kept: all of them would be a second export.
    private static let namedLimit = 1000

    let format: String
    /// The file; `nil` for standard output.
    let output: String?
    var written = 0
    private(set) var leftOut: [LeftOut] = []
    private(set) var notKept: [NotKept] = []
    /// Cookies whose lifetime is over.
    var expired = 0
    /// Cookies whose stored value cannot be read back.
    private(set) var unreadable: [CookieIdentityReport] = []
    /// What a person has to be told even where nothing else is said.
    private(set) var complaints: [String] = []

    private enum CodingKeys: CodingKey {
        case format, output, written, leftOut, notKept, expired, unreadable
    }

    init(format: ExportFormat, output: String?) {
        self.format = format.rawValue
        self.output = output
    }

    /// Accounts for one cookie.
    mutating func count(_ outcome: CookieWriter.Outcome, of record: CookieRecord) {
        switch outcome {
        case .leftOut(let obstacle):
            let reason = ReasonReport(id: obstacle.rawValue, explanation: obstacle.explanation)
            leftOut.append(LeftOut(cookie: CookieIdentityReport(record), reason: reason))
            complaints.append("left out \(record.label): \(obstacle.explanation) (\(obstacle.rawValue))")
        case .written(let losses):
            written += 1
            for feature in losses { count(feature, of: record) }
        }
    }

    /// Accounts for a cookie whose value cannot be read back.
    mutating func count(unreadable cookie: Cookie) {
        unreadable.append(CookieIdentityReport(cookie))
        complaints.append("left out \(cookie.label): \(ExclusionReason.unreadable.explanation)")
    }

    private mutating func count(_ feature: CookieFeature, of record: CookieRecord) {
        let index: Int
        if let found = notKept.firstIndex(where: { $0.id == feature.rawValue }) {
            index = found
        } else {
            index = notKept.endIndex
            notKept.append(NotKept(feature))
        }
        notKept[index].count += 1
        if notKept[index].count <= ExportReport.namedLimit {
            notKept[index].cookies.append(CookieIdentityReport(record))
        }
    }

    /// What was written, for a person, and what of it the format does not keep.
    var text: [String] {
        var rows = ["\(output.map { "\($0): " } ?? "")\(counted(written, "cookie")) written"]
        if expired > 0 { rows[0] += ", \(expired) expired" }
        let order = CookieFeature.allCases.map(\.rawValue)
        let lost = notKept.sorted { (order.firstIndex(of: $0.id) ?? 0) < (order.firstIndex(of: $1.id) ?? 0) }
        if !lost.isEmpty {
            let parts = lost.map { $0.count == written ? $0.title : "\($0.title) (of \($0.count))" }
            rows.append("  \(format) does not keep: \(parts.joined(separator: ", "))")
        }
        return rows
    }

    /// The status that the command ends with, where it is not success.
    var status: ExitStatus? {
        if !unreadable.isEmpty { return .valueDamaged }
        return leftOut.isEmpty ? nil : .cookieNotHeld
    }
}
