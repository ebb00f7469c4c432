import Foundation

/// A scenario as its JSON has it.
struct ScenarioDocument: Decodable {
    let scenario: Scenario

    enum CodingKeys: CodingKey {
        case id, now, profile, limits, steps
    }

    init(from decoder: any Decoder) throws {
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
        self.scenario = scenario
    }
}

private struct StepDocument: Decodable {
    let step: Scenario.Step

    enum CodingKeys: CodingKey, CaseIterable {
        case receive, send, advance, endSession
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let kind = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "a step is one of receive, send, advance and endSession"))
        }
        switch kind {
        case .receive:
            step = .receive(try container.decode(ReceiveDocument.self, forKey: .receive).response)
        case .send:
            step = .send(try container.decode(RequestDocument.self, forKey: .send).context)
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

private struct ReceiveDocument: Decodable {
    let response: ReceivedResponse

    enum CodingKeys: CodingKey {
        case status, setCookie, setCookieBase64
    }

    init(from decoder: any Decoder) throws {
        let context = try RequestDocument(from: decoder).context
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

private struct RequestDocument: Decodable {
    let context: RequestContext

    enum CodingKeys: CodingKey {
        case url, method, via, context
    }

    enum ContextKeys: CodingKey {
        case topLevel, initiator, navigation
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var context = RequestContext(url: try container.requestURL(.url))
        if let method = try container.decodeIfPresent(String.self, forKey: .method) {
            context.method = method.uppercased()
        }
        if let via = try container.decodeIfPresent(String.self, forKey: .via) {
            guard let interface = RequestContext.Interface(rawValue: via) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .via, in: container, debugDescription: "this is neither http nor script")
            }
            context.interface = interface
        }
        if container.contains(.context), try !container.decodeNil(forKey: .context) {
            let nested = try container.nestedContainer(keyedBy: ContextKeys.self, forKey: .context)
            if nested.contains(.topLevel), try !nested.decodeNil(forKey: .topLevel) {
                context.topLevel = try nested.requestURL(.topLevel)
            }
            context.initiator = try RequestDocument.initiator(nested)
            context.isTopLevelNavigation =
                try nested.decodeIfPresent(Bool.self, forKey: .navigation) ?? (context.topLevel == nil)
        }
        self.context = context
    }

    private static func initiator(
        _ container: KeyedDecodingContainer<ContextKeys>
    ) throws -> RequestContext.Initiator {
        guard container.contains(.initiator) else { return .topLevel }
        if try container.decodeNil(forKey: .initiator) { return .user }
        // "null" is how an opaque origin is serialized.
        if try container.decode(String.self, forKey: .initiator) == "null" { return .opaque }
        return .origin(try container.requestURL(.initiator))
    }
}

extension KeyedDecodingContainer {
    fileprivate func requestURL(_ key: Key) throws -> RequestURL {
        do {
            return try RequestURL(try decode(String.self, forKey: key))
        } catch let error as RequestURLError {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: error.description)
        }
    }
}
