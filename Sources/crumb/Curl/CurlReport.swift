import CookieModel
import RequestDecoration
import SessionOperations

/// What happened to cookies in one hop, in JSON, without values.
struct CurlHopReport: Encodable {
    struct Refusal: Encodable {
        let name: String?
        let reasons: [String]
    }

    struct Evicted: Encodable {
        let name: String
        let domain: String
        let reason: String
    }

    let hop: Int
    let method: String
    /// Without the query, which may hold what is as good as a password.
    let url: String
    /// The statuses of all answers, in order: 100, 401 and the like come before the last one.
    var statuses: [Int] = []
    let sent: [String]
    var stored: [String] = []
    var deleted: [String] = []
    var refused: [Refusal] = []
    var evicted: [Evicted] = []
    /// The names of the header fields that came from the jar; only where there were any.
    let fields: [String]?
    /// What said "not signed in", where a token was got and the request made once more.
    var fallback: String?

    init(_ hop: RedirectChain, sent: [Cookie], fields: FieldSelection) {
        self.hop = hop.number
        method = hop.context.method
        url = hop.context.url.origin + hop.context.url.path.description
        self.sent = sent.map(\.name.description)
        self.fields = fields.sent.isEmpty ? nil : fields.sent.map(\.name)
    }

    /// Adds what became of one answer's cookies.
    mutating func add(_ decisions: [StorageDecision]) {
        for decision in decisions {
            let name = decision.name?.description
            evicted += decision.evicted.map { eviction in
                Evicted(
                    name: eviction.cookie.name.description, domain: eviction.cookie.domain.description,
                    reason: eviction.reason.identifier)
            }
            switch decision.outcome {
            case .stored, .replaced: stored.append(name ?? "")
            case .deleted: deleted.append(name ?? "")
            case .rejected: refused.append(Refusal(name: name, reasons: decision.reasons.reasons.map(\.identifier)))
            }
        }
    }
}

/// What happened to cookies in all hops, in one line.
struct CurlSummary: CustomStringConvertible {
    let hops: [CurlHopReport]

    var description: String {
        let sent = hops.reduce(0) { $0 + $1.sent.count }
        let stored = hops.reduce(0) { $0 + $1.stored.count }
        let deleted = hops.reduce(0) { $0 + $1.deleted.count }
        let refused = hops.flatMap(\.refused)
        var parts = [
            "\(hops.count) \(hops.count == 1 ? "hop" : "hops")", "\(sent) \(sent == 1 ? "cookie" : "cookies") sent",
            "\(stored) taken",
        ]
        let fields = hops.reduce(0) { $0 + ($1.fields?.count ?? 0) }
        if fields > 0 { parts.append("\(fields) \(fields == 1 ? "header field" : "header fields") set") }
        if deleted > 0 { parts.append("\(deleted) deleted") }
        if !refused.isEmpty {
            let reasons = Set(refused.flatMap(\.reasons)).sorted().joined(separator: ", ")
            parts.append("\(refused.count) refused (\(reasons))")
        }
        let evicted = hops.flatMap(\.evicted)
        if !evicted.isEmpty {
            let reasons = Set(evicted.map(\.reason)).sorted().joined(separator: ", ")
            parts.append("\(evicted.count) evicted (\(reasons))")
        }
        if let sign = hops.compactMap(\.fallback).first { parts.append("logged in again (\(sign))") }
        return parts.joined(separator: ", ")
    }
}
