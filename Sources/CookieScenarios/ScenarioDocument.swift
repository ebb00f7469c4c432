import CookieModel
import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The JSON of a scenario.
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
                    forKey: .laxAllowingUnsafe, in: container, debugDescription: "this is not an age in seconds"
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
        // Other programs' encoders write null for the kinds that a step does not have.
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
                    forKey: .advance, in: container, debugDescription: "this is beyond the last possible date")
            }
            step = .advance(microseconds: microseconds)
        case .endSession:
            guard try container.decode(Bool.self, forKey: .endSession) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .endSession, in: container, debugDescription: "write true, or leave out the step")
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

/// The JSON of a step's request, with its context.
struct ScenarioRequestDocument: Decodable {
    let context: RequestContext

    enum CodingKeys: CodingKey, CaseIterable {
        case url, method, via, context
    }

    enum ContextKeys: CodingKey, CaseIterable {
        case topLevel, initiator, navigation, redirects
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let url = try ScenarioRequestDocument.checking(.url, container) { text throws(RequestURLError) in
            try RequestURL(text)
        }
        var context = RequestContext(url: url)
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
            let surroundings = try container.superDecoder(forKey: .context)
            try surroundings.checkMembers(ContextKeys.allCases)
            try ScenarioRequestDocument.read(try surroundings.container(keyedBy: ContextKeys.self), into: &context)
        }
        self.context = context
    }

    private static func read(
        _ container: KeyedDecodingContainer<ContextKeys>, into context: inout RequestContext
    ) throws {
        let hasTopLevel = try container.contains(.topLevel) && !container.decodeNil(forKey: .topLevel)
        if hasTopLevel { context.topLevel = try checking(.topLevel, container, page) }
        let isOpaque = hasTopLevel && context.topLevel == nil
        if !container.contains(.initiator) {
            context.initiator = isOpaque ? .opaque : .topLevel
        } else if try container.decodeNil(forKey: .initiator) {
            context.initiator = .user
        } else {
            context.initiator = try checking(.initiator, container, page).map { .origin($0) } ?? .opaque
        }
        context.isTopLevelNavigation =
            try container.decodeIfPresent(Bool.self, forKey: .navigation) ?? !hasTopLevel
        for text in try container.decodeIfPresent([String].self, forKey: .redirects) ?? [] {
            do {
                context.redirects.append(try RequestURL(text))
            } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: .redirects, in: container, debugDescription: "\(text): \(error.description)")
            }
        }
        // Every request within a page that is same-site with nothing is cross-site, whatever its initiator.
        if isOpaque, !context.isTopLevelNavigation { context.initiator = .opaque }
    }

    /// The URL of a page; `nil` for one that is same-site with nothing that carries cookies: `about:blank`, `data:`,
    /// `file:`, an extension's, or `null`, which is how an opaque origin is serialized.
    private static func page(_ text: String) throws(RequestURLError) -> RequestURL? {
        guard text != "null" else { return nil }
        do {
            return try RequestURL(text)
        } catch {
            guard error.code == .schemeUnsupported else { throw error }
            // A blob's origin is that of the page that made it.
            guard text.prefix(5).lowercased() == "blob:" else { return nil }
            return try? RequestURL(String(text.dropFirst(5)))
        }
    }

    private static func checking<Key, Value>(
        _ key: Key, _ container: KeyedDecodingContainer<Key>, _ read: (String) throws(RequestURLError) -> Value
    ) throws -> Value {
        do {
            return try read(try container.decode(String.self, forKey: key))
        } catch let error as RequestURLError {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: error.description)
        }
    }
}

/// The limits in a scenario's JSON: a number, or `null` for no limit. A limit that is absent keeps the profile's value.
struct LimitsDocument: Decodable {
    enum CodingKeys: CodingKey, CaseIterable {
        case domainCookies, totalCookies, partitionCookies, partitionOctets, requestCookies, requestOctets
    }

    private let container: KeyedDecodingContainer<CodingKeys>

    init(from decoder: any Decoder) throws {
        try decoder.checkMembers(CodingKeys.allCases)
        container = try decoder.container(keyedBy: CodingKeys.self)
    }

    /// The limits given, with the changes.
    func limits(over base: CookieLimits) throws -> CookieLimits {
        var limits = base
        try read(.domainCookies, into: &limits.domainCookies)
        try read(.totalCookies, into: &limits.totalCookies)
        try read(.partitionCookies, into: &limits.partitionCookies)
        try read(.partitionOctets, into: &limits.partitionOctets)
        try read(.requestCookies, into: &limits.requestCookies)
        try read(.requestOctets, into: &limits.requestOctets)
        return limits
    }

    private func read(_ key: CodingKeys, into limit: inout Int?) throws {
        guard container.contains(key) else { return }
        limit = try container.decodeNil(forKey: key) ? nil : try container.decode(Int.self, forKey: key)
        guard (limit ?? 0) >= 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "a limit is 0 or more, or null for none")
        }
    }
}
