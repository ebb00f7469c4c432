import Foundation

/// Limits as a scenario's JSON has them: a number, `null` for none, and what is not there stays as the profile has it.
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
