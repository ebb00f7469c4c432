import Foundation

/// What a scenario came to, as its JSON has it.
struct ScenarioAnswer: Encodable {
    let id: ScenarioID?
    let results: [ScenarioStepAnswer]

    enum CodingKeys: CodingKey {
        case id, results
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(results, forKey: .results)
    }
}

struct ScenarioStepAnswer: Encodable {
    let result: Scenario.StepResult

    init(_ result: Scenario.StepResult) {
        self.result = result
    }

    func encode(to encoder: any Encoder) throws {
        switch result {
        case .none:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .decisions(let decisions):
            try DecisionsAnswer(decisions: decisions.map(DecisionAnswer.init)).encode(to: encoder)
        case .retrieval(let retrieval):
            try RetrievalAnswer(retrieval).encode(to: encoder)
        }
    }
}

private struct DecisionsAnswer: Encodable {
    let decisions: [DecisionAnswer]
}

private struct DecisionAnswer: Encodable {
    let outcome: String
    let cookie: CookieAnswer?
    let reasons: [String]?
    let evicted: [EvictionAnswer]?

    init(_ decision: StorageDecision) {
        outcome = decision.outcome.rawValue
        cookie = decision.cookie.map(CookieAnswer.init)
        reasons = decision.outcome == .rejected ? decision.reasons.identifiers : nil
        evicted = decision.evicted.isEmpty ? nil : decision.evicted.map(EvictionAnswer.init)
    }
}

private struct EvictionAnswer: Encodable {
    let cookie: CookieAnswer
    let reason: String

    init(_ eviction: Eviction) {
        cookie = CookieAnswer(eviction.cookie)
        reason = eviction.reason.identifier
    }
}

private struct CookieAnswer: Encodable {
    let name: String?
    let nameBase64: String?
    let domain: String
    let path: String
    let hostOnly: Bool
    let partitionKey: String?

    init(_ cookie: Cookie) {
        name = cookie.name.utf8String
        nameBase64 = name == nil ? Data(cookie.name).base64EncodedString() : nil
        domain = cookie.domain.description
        path = cookie.path.utf8String ?? cookie.path.description
        hostOnly = cookie.isHostOnly
        partitionKey = cookie.id.partitionKey?.serialized
    }
}

private struct NamedCookieAnswer: Encodable {
    let name: String?
    let nameBase64: String?
    let reasons: [String]?

    init(_ cookie: Cookie, _ reasons: ReasonSet<ExclusionReason>? = nil) {
        name = cookie.name.utf8String
        nameBase64 = name == nil ? Data(cookie.name).base64EncodedString() : nil
        self.reasons = reasons?.identifiers
    }
}

private struct RetrievalAnswer: Encodable {
    let cookie: String?
    let cookieBase64: String
    let included: [NamedCookieAnswer]
    let excluded: [NamedCookieAnswer]

    enum CodingKeys: CodingKey {
        case cookie, cookieBase64, included, excluded
    }

    init(_ retrieval: Retrieval) {
        let octets = retrieval.cookieString
        cookie = octets.utf8String
        cookieBase64 = Data(octets).base64EncodedString()
        included = retrieval.included.map { NamedCookieAnswer($0) }
        excluded = retrieval.excluded.map { NamedCookieAnswer($0.cookie, $0.reasons) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        // Written even where it is null: a reader can tell "not UTF-8" from "no cookie".
        try container.encode(cookie, forKey: .cookie)
        try container.encode(cookieBase64, forKey: .cookieBase64)
        try container.encode(included, forKey: .included)
        try container.encode(excluded, forKey: .excluded)
    }
}
