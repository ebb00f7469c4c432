import CookieModel
package import PublicSuffix
package import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One line of a scenario file: JSON in, JSON out.
package enum ScenarioLine {
    /// Runs the scenario in `line` and returns one line of JSON, without a newline.
    ///
    /// - Parameters:
    ///   - line: a JSON object.
    ///   - realTime: The time if the scenario has none.
    ///   - publicSuffixes: the public suffix list.
    /// - Returns: The result, and whether the line was a scenario. If not, the result contains the error.
    package static func run(
        _ line: [UInt8], realTime: Timestamp, publicSuffixes: PublicSuffixList = .bundled
    ) -> (answer: [UInt8], isScenario: Bool) {
        run(line, realTime: realTime, publicSuffixes: publicSuffixes) { _ in }
    }

    /// Runs a scenario if `check` accepts its JSON.
    ///
    /// - Parameters:
    ///   - refusesUnknownMembers: whether unknown members are rejected; files of other programs have some.
    ///   - check: Throws an error for invalid JSON. Its description becomes the answer.
    package static func run(
        _ line: [UInt8], realTime: Timestamp, publicSuffixes: PublicSuffixList = .bundled,
        refusingUnknownMembers refusesUnknownMembers: Bool = false, checkedBy check: ([UInt8]) throws -> Void
    ) -> (answer: [UInt8], isScenario: Bool) {
        var id: ScenarioID?
        do {
            let decoder = JSONDecoder()
            if let key = CodingUserInfoKey.refusesUnknownMembers { decoder.userInfo[key] = refusesUnknownMembers }
            id = try? decoder.decode(IdentifiedLine.self, from: Data(line)).id
            do { try check(line) } catch { throw ScenarioRefusal(description: "\(error)") }
            let document = try decoder.decode(ScenarioDocument.self, from: Data(line))
            guard
                let results = document.scenario.run(
                    realTime: realTime, publicSuffixes: publicSuffixes, verdictLimit: verdictLimit)
            else {
                throw ScenarioRefusal(
                    description: "the requests ask about more than \(verdictLimit) cookies together; split the scenario"
                )
            }
            let answer = ScenarioAnswer(id: id, results: results.map(ScenarioStepAnswer.init))
            return (try encode(answer), true)
        } catch {
            let failure = ScenarioFailure(id: id, error: describe(error))
            return ((try? encode(failure)) ?? Array(#"{"error":"the answer cannot be written"}"#.utf8), false)
        }
    }

    /// How many cookies the requests of one scenario may ask about: the answer has an entry for each.
    static let verdictLimit = 2_000_000

    private static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    private static func describe(_ error: any Error) -> String {
        if let refusal = error as? ScenarioRefusal { return refusal.description }
        guard let error = error as? DecodingError else { return "the line is not a scenario" }
        switch error {
        case .keyNotFound(let key, let context):
            return "\(place(context.codingPath + [key])): this field is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "\(place(context.codingPath)): this field has the wrong type"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty
                ? "the line is not JSON" : "\(place(context.codingPath)): \(context.debugDescription)"
        @unknown default:
            return "the line is not a scenario"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the line" : path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}

/// Why a scenario is not run.
private struct ScenarioRefusal: Error {
    let description: String
}

private struct IdentifiedLine: Decodable {
    let id: ScenarioID?
}

private struct ScenarioFailure: Encodable {
    let id: ScenarioID?
    let error: String

    enum CodingKeys: CodingKey {
        case id, error
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(error, forKey: .error)
    }
}

extension CodingUserInfoKey {
    /// Whether members that a scenario does not have are refused.
    fileprivate static let refusesUnknownMembers = CodingUserInfoKey(rawValue: "refusesUnknownMembers")
}

extension Decoder {
    /// Rejects members other than these, if the scenario is read strictly.
    func checkMembers(_ known: [any CodingKey]) throws {
        guard case true? = CodingUserInfoKey.refusesUnknownMembers.flatMap({ userInfo[$0] as? Bool }),
            let member = try firstMember(besides: Set(known.map(\.stringValue)))
        else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: codingPath + [member], debugDescription: "unknown member"))
    }
}

/// The JSON of a scenario's results.
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
        // Written even if it is null, so that a reader can tell "not UTF-8" from "no cookie".
        try container.encode(cookie, forKey: .cookie)
        try container.encode(cookieBase64, forKey: .cookieBase64)
        try container.encode(included, forKey: .included)
        try container.encode(excluded, forKey: .excluded)
    }
}
