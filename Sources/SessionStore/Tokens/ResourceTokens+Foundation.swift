internal import OAuth2

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The access tokens of one login for single resources (RFC 8707). The login's row stores them as a sealed JSON object.
///
/// All of them come from the same refresh token, which is in the row, too.
struct ResourceTokens {
    /// How many resources are stored; beyond that, the token that expires first is removed.
    static let limit = 64

    private struct Entry: Codable {
        let accessToken: Data
        let tokenType: String
        let scope: String?
        let receivedAt: Int64
        let expiresAt: Int64?
    }

    private var entries: [String: Entry]

    /// The tokens of a row.
    ///
    /// - Parameter stored: The value of the column; `nil` for none.
    /// - Returns: `nil` if the value is damaged.
    init?(_ stored: Secret?) {
        guard let stored else {
            entries = [:]
            return
        }
        guard let entries = try? JSONDecoder().decode([String: Entry].self, from: Data(stored.exposedBytes)) else {
            return nil
        }
        self.entries = entries
    }

    /// The tokens of a login, with the access token for a resource instead of its own.
    ///
    /// A token that was not requested yet is empty and expired.
    func tokens(_ tokens: TokenSet, for resource: String) -> TokenSet {
        var tokens = tokens
        guard let entry = entries[resource] else {
            tokens.accessToken = Secret([])
            tokens.receivedAt = .epoch
            tokens.accessTokenExpiry = .epoch
            return tokens
        }
        tokens.accessToken = Secret(Array(entry.accessToken))
        tokens.tokenType = TokenType(entry.tokenType)
        tokens.scopes = entry.scope.map { Scopes(parsing: $0) }
        tokens.receivedAt = Timestamp(microseconds: entry.receivedAt)
        tokens.accessTokenExpiry = entry.expiresAt.map(Timestamp.init(microseconds:))
        return tokens
    }

    /// The access tokens that have not expired, by resource.
    func accessTokens(at now: Timestamp) -> [Secret] {
        entries.sorted { $0.key < $1.key }.compactMap { entry in
            entry.value.expiresAt ?? .max > now.microseconds ? Secret(Array(entry.value.accessToken)) : nil
        }
    }

    /// Stores the access token for a resource.
    mutating func put(_ tokens: TokenSet, for resource: String) {
        entries[resource] = Entry(
            accessToken: Data(tokens.accessToken.exposedBytes), tokenType: tokens.tokenType.name,
            scope: tokens.scopes?.description, receivedAt: tokens.receivedAt.microseconds,
            expiresAt: tokens.accessTokenExpiry?.microseconds)
        guard entries.count > ResourceTokens.limit else { return }
        let others = entries.filter { $0.key != resource }
        let oldest = others.min { ($0.value.expiresAt ?? .max, $0.key) < ($1.value.expiresAt ?? .max, $1.key) }
        if let oldest { entries[oldest.key] = nil }
    }

    /// The tokens in the form of the column, before sealing.
    func stored() throws -> Secret {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Secret(Array(try encoder.encode(entries)))
    }
}
