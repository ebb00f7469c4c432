internal import Foundation
internal import OAuth2

/// The access tokens of one login for single resources (RFC 8707), as its row keeps them: a sealed JSON object.
///
/// All come from the same refresh token, which is in the row itself.
struct ResourceTokens {
    /// How many resources are remembered; beyond that, the token that expires first goes.
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
    /// - Parameter stored: What the column holds; `nil` for none.
    /// - Returns: `nil` if it is damaged.
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

    /// The tokens of a login with the access token for a resource in the place of its own.
    ///
    /// One that was not asked for yet has expired, and is empty.
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

    /// Keeps the access token for a resource.
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

    /// The tokens as the column holds them, to be sealed.
    func stored() throws -> Secret {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Secret(Array(try encoder.encode(entries)))
    }
}
