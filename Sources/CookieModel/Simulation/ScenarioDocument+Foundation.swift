import Foundation
import WebPrimitives

/// A scenario as its JSON has it.
struct ScenarioDocument: Decodable {
    let scenario: Scenario

    enum CodingKeys: CodingKey, CaseIterable {
        case id, now, profile, limits, laxAllowingUnsafe, considersRedirects, steps
    }

    init(from decoder: any Decoder) throws {
        try decoder.checkMembers(CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var scenario = Scenario(steps: try container.decode([StepDocument].self, forKey: .steps).map(\.step))
        if let now = try container.decodeIfPresent(String.self, forKey: .now) {
            guard let timestamp = Timestamp(rfc3339: now.utf8) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .now, in: container, debugDescription: "this is not an RFC 3339 date and time")
            }
            scenario.now = timestamp
        }
        if let name = try container.decodeIfPresent(String.self, forKey: .profile) {
            guard let profile = CookieProfile(name: name) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .profile, in: container, debugDescription: "the profiles are rfc6265bis and browser")
            }
            scenario.profile = profile
        }
        if container.contains(.limits) {
            scenario.limits = try container.decode(LimitsDocument.self, forKey: .limits)
                .limits(over: CookiePolicy(profile: scenario.profile).limits)
        }
        if let age = try container.decodeIfPresent(Int64.self, forKey: .laxAllowingUnsafe) {
            guard (0...CookiePolicy().lifetimeLimit).contains(age) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .laxAllowingUnsafe, in: container, debugDescription: "this is no age of a cookie in seconds"
                )
            }
            scenario.laxAllowingUnsafeAge = age
        }
        scenario.considersRedirectChain =
            try container.decodeIfPresent(Bool.self, forKey: .considersRedirects) ?? false
        self.scenario = scenario
    }
}

private struct StepDocument: Decodable {
    let step: Scenario.Step

    enum CodingKeys: CodingKey, CaseIterable {
        case receive, send, advance, endSession
    }

    init(from decoder: any Decoder) throws {
        try decoder.checkMembers(CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // Other people's encoders write null for what a step is not.
        let named = try container.allKeys.filter { try !container.decodeNil(forKey: $0) }
        let kinds = named.isEmpty ? container.allKeys : named
        guard let kind = kinds.first, kinds.count == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "a step is one of receive, send, advance and endSession"))
        }
        switch kind {
        case .receive:
            step = .receive(try container.decode(ReceiveDocument.self, forKey: .receive).response)
        case .send:
            step = .send(try container.decode(SendDocument.self, forKey: .send).context)
        case .advance:
            let seconds = try container.decode(Double.self, forKey: .advance)
            guard let microseconds = Int64(exactly: (seconds * 1_000_000).rounded()) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .advance, in: container, debugDescription: "this is further than any date")
            }
            step = .advance(microseconds: microseconds)
        case .endSession:
            guard try container.decode(Bool.self, forKey: .endSession) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .endSession, in: container, debugDescription: "write true, or leave the step out")
            }
            step = .endSession
        }
    }
}

private struct SendDocument: Decodable {
    let context: RequestContext

    init(from decoder: any Decoder) throws {
        try decoder.checkMembers(ScenarioRequestDocument.CodingKeys.allCases)
        context = try ScenarioRequestDocument(from: decoder).context
    }
}

private struct ReceiveDocument: Decodable {
    let response: ReceivedResponse

    enum CodingKeys: CodingKey, CaseIterable {
        case status, setCookie, setCookieBase64
    }

    init(from decoder: any Decoder) throws {
        try decoder.checkMembers(CodingKeys.allCases + ScenarioRequestDocument.CodingKeys.allCases)
        let context = try ScenarioRequestDocument(from: decoder).context
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var lines = try container.decodeIfPresent([String].self, forKey: .setCookie)?.map { Octets($0) } ?? []
        for text in try container.decodeIfPresent([String].self, forKey: .setCookieBase64) ?? [] {
            guard let data = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .setCookieBase64, in: container, debugDescription: "this is not base64")
            }
            lines.append(Octets(Array(data)))
        }
        response = ReceivedResponse(
            context: context, status: try container.decodeIfPresent(Int.self, forKey: .status) ?? 200, setCookie: lines)
    }
}
