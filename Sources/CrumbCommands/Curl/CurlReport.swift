import CookieModel
import RequestDecoration
import SessionOperations

/// The cookies sent and stored in one hop, in JSON, without values.
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
    /// The URL without its query, which may contain secrets.
    let url: String
    /// The statuses of all responses, in order: 100, 401 and similar ones come before the last one.
    var statuses: [Int] = []
    private(set) var sent: [String] = []
    /// The cookies of a request that ended without a response, if nothing tells whether it was sent.
    private(set) var possiblySent: [String]?
    var stored: [String] = []
    var deleted: [String] = []
    var refused: [Refusal] = []
    var evicted: [Evicted] = []
    /// The names of the header fields that came from the jar and were sent; `nil` if there were none.
    private(set) var fields: [String]?
    /// The sign of "not signed in" after which a token was obtained and the request repeated.
    var fallback: String?

    /// The cookies and fields that curl was given for the request.
    private let cookies: [String]
    private let givenFields: [String]
    /// Whether the server answered at all.
    private var isAnswered = false

    private enum CodingKeys: String, CodingKey {
        case hop, method, url, statuses, sent, possiblySent, stored, deleted, refused, evicted, fields, fallback
    }

    /// The exit statuses with which curl says that there was no connection, or no request on it.
    private static let unsentStatuses: Set<Int32> = [
        2, 3, 4, 5, 6, 7, 27, 35, 41, 43, 45, 48, 51, 53, 54, 58, 59, 60, 66, 77, 82, 83, 90, 91, 96, 97,
    ]
    /// Those that say that a request was sent, although no header of a response came.
    private static let sentStatuses: Set<Int32> = [0, 8, 18, 52, 92]

    /// A request that is about to be made.
    init(_ hop: RedirectChain, _ decoration: CurlDecoration) {
        self.hop = hop.number
        method = hop.context.method
        url = hop.context.url.origin + hop.context.url.path.description
        cookies = decoration.cookies
        givenFields = decoration.fields
    }

    /// Notes the header of a response of the server's, which the request came before.
    mutating func noteResponse() {
        isAnswered = true
        noteRequest()
    }

    /// Notes how curl ended: without a response, that tells whether there was a request.
    mutating func noteEnd(_ exitStatus: Int32) {
        guard !isAnswered else { return }
        if CurlHopReport.sentStatuses.contains(exitStatus) {
            noteRequest()
        } else if !CurlHopReport.unsentStatuses.contains(exitStatus), !cookies.isEmpty {
            possiblySent = cookies
        }
    }

    private mutating func noteRequest() {
        sent = cookies
        fields = givenFields.isEmpty ? nil : givenFields
    }

    /// Adds the decisions on the `Set-Cookie` lines of a response.
    mutating func add(_ decisions: [StorageDecisionReport], of lines: [Octets]) {
        for (decision, line) in zip(decisions, lines) {
            evicted += decision.evicted.map { cookie in
                Evicted(name: cookie.nameOctets.description, domain: cookie.domain, reason: cookie.reason?.id ?? "")
            }
            let name = decision.cookie?.nameOctets.description
            switch StorageDecision.Outcome(rawValue: decision.outcome) {
            case .stored, .replaced: stored.append(name ?? "")
            case .deleted: deleted.append(name ?? "")
            case .rejected, nil:
                refused.append(Refusal(name: SetCookie.name(in: line), reasons: decision.reasons.map(\.id)))
            }
        }
    }
}

extension SetCookie {
    /// The name in a line, whatever becomes of the cookie; `nil` if the line cannot be parsed.
    fileprivate static func name(in line: Octets) -> String? {
        guard case .cookie(let cookie) = parse(line) else { return nil }
        return cookie.name.description
    }
}

/// The cookies sent and stored in all hops, in one line.
struct CurlSummary: CustomStringConvertible {
    let hops: [CurlHopReport]

    var description: String {
        func total(_ names: (CurlHopReport) -> [String]?) -> Int { hops.reduce(0) { $0 + (names($1)?.count ?? 0) } }
        let (sent, possiblySent, stored) = (total(\.sent), total(\.possiblySent), total(\.stored))
        let (deleted, fields, refused) = (total(\.deleted), total(\.fields), hops.flatMap(\.refused))
        let unanswered = hops.count(where: \.statuses.isEmpty)
        var parts = [counted(hops.count, "hop")]
        if unanswered > 0 {
            parts[0] += unanswered == hops.count ? " without a response" : " (\(unanswered) without a response)"
        }
        parts.append("\(counted(sent, "cookie")) sent")
        if possiblySent > 0 { parts.append("\(possiblySent) possibly sent") }
        parts.append("\(stored) taken")
        if fields > 0 { parts.append("\(counted(fields, "header field")) set") }
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
