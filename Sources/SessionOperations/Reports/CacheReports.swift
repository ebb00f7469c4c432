import CookieModel
import GatewayModel
import HTTPCaching
import HTTPMessages
import ResponseStore
import SessionWire

/// The rules of a gateway that has no table of its own.
private let policy = CachingPolicy(rules: .standard)

extension CachedResponseReport {
    init(_ stored: StoredResponse, showingQuery: Bool, now: Timestamp) {
        let response = stored.response
        let freshness = policy.freshness(of: response, now: now)
        let url = response.url
        let shown = showingQuery ? url.description : url.withoutQuery.description
        self.init(
            url: SecretRedaction.url(shown), hasQuery: !showingQuery && !url.query.isEmpty ? true : nil,
            status: response.status, octets: stored.size,
            state: response.isInvalid ? "invalid" : freshness.isFresh ? "fresh" : "stale",
            timeToLive: freshness.timeToLive, stored: stored.stored.rfc3339, used: stored.used.rfc3339)
    }
}

extension CachedResponseReport {
    /// The URL for a person: a query that is left out is marked.
    package var shownURL: String { hasQuery == true ? "\(url)?…" : url }

    /// How fresh it is, for a person.
    package var freshness: String {
        switch state {
        case "fresh": "\(timeToLive) s left"
        case "stale": "stale for \(-timeToLive) s"
        default: state
        }
    }
}

extension CachedResponseDetails {
    /// What happens with the request, for a person.
    package var answer: String { LookupDecision.answer(outcome) }

    /// Its audience for a person.
    package var shownAudience: String { "\(audience) (\(client == "tool" ? "programs" : "browsers"))" }

    /// The fields whose values are shown. Others, such as `Location` and `ETag`, may have secrets or marks of a user.
    private static let shownFields: Set<Octets> = [
        "accept-ranges", "age", "cache-control", "content-encoding", "content-language", "content-length",
        "content-range", "content-type", "date", "expires", "last-modified", "no-vary-search", "pragma", "vary",
    ]

    /// - Parameters:
    ///   - decision: The decision on a request.
    ///   - reasons: Why the response does not answer; `nil` for the decision's own reasons.
    ///   - question: The question that it answers.
    init(
        _ stored: StoredResponse, _ decision: LookupDecision, reasons: [Reason]? = nil, by question: CacheQuestion,
        audience: Int, showingQuery: Bool
    ) {
        let response = stored.response
        let freshness = question.policy.freshness(of: response, now: question.now)
        self.init(
            response: CachedResponseReport(stored, showingQuery: showingQuery, now: question.now), audience: audience,
            client: GatewaySettings.Client.client(ofAudience: stored.audience).rawValue,
            lifetime: freshness.lifetime, lifetimeSource: freshness.source.name, age: freshness.age,
            fields: response.fields.lines.map { field in
                Field(
                    name: field.name.description,
                    value: CachedResponseDetails.shownFields.contains(field.name.lowercased)
                        ? field.value.description : nil)
            },
            vary: response.nominated.values.keys.map(\.description).sorted(), outcome: decision.outcome.name,
            rule: decision.rule.description,
            reasons: reasons ?? decision.cacheReasons)
    }
}

extension CacheExplanationReport {
    /// What happens with the request, for a person.
    package var answer: String { LookupDecision.answer(outcome) }
}

extension LookupDecision {
    /// The name of an outcome for a person.
    fileprivate static func answer(_ outcome: String) -> String {
        switch outcome {
        case "hit": "answered from the cache"
        case "hit-then-validate": "answered from the cache, and the server is asked afterwards"
        case "validate": "the server is asked whether the response is still valid"
        case "complete": "the server is asked for the missing part"
        case "unavailable": "status 504: nothing may be sent"
        default: "sent to the server"
        }
    }

    /// The reasons for a report.
    var cacheReasons: [CachedResponseDetails.Reason] {
        reasons.map { CachedResponseDetails.Reason(id: $0.rawValue, explanation: $0.explanation) }
    }
}

extension Freshness.Source {
    fileprivate var name: String {
        switch self {
        case .maximumAge: "max-age"
        case .expires: "expires"
        case .heuristic: "heuristic"
        case .none: "none"
        }
    }
}

extension LookupDecision.Outcome {
    var name: String {
        switch self {
        case .hit: "hit"
        case .hitThenValidate: "hit-then-validate"
        case .validate: "validate"
        case .complete: "complete"
        case .forward: "forward"
        case .unavailable: "unavailable"
        }
    }
}

extension CacheRemovalReport {
    init(_ removed: [CacheUsage]) {
        self.init(removed: removed.map(\.entries).reduce(0, +), octets: removed.map(\.size).reduce(0, +))
    }
}
