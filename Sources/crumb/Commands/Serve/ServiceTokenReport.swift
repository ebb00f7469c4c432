import CookieModel
import SessionOperations
import SessionStore

/// What is known of an access token of the service.
struct ServiceTokenReport: Encodable {
    let name: String
    /// `valid`, `expired` or `revoked`.
    let state: String
    let verbs: [String]
    /// `nil` for all.
    let jars: [String]?
    let created: String
    let expires: String?
    let revoked: String?
    let lastUsed: String?

    init(_ token: ServiceToken, now: Timestamp) {
        name = token.name
        state = token.isValid(at: now) ? "valid" : token.revocation == nil ? "expired" : "revoked"
        verbs = AccessVerb.allCases.filter(token.grant.verbs.contains).map(\.rawValue)
        jars = if case .named(let names) = token.grant.jars { names.sorted() } else { nil }
        created = token.creation.rfc3339
        expires = token.expiry?.rfc3339
        revoked = token.revocation?.rfc3339
        lastUsed = token.lastUse?.rfc3339
    }

    /// The cells of its row in a table.
    var row: [String] {
        [
            shown(name), state, verbs.joined(separator: ","), lastUsed ?? "never", expires ?? "never",
            jars.map { $0.map(shown).joined(separator: ", ") } ?? "all",
        ]
    }
}
