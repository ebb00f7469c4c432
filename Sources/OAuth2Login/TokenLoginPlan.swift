package import OAuth2

/// How a login goes.
package struct TokenLoginPlan: Sendable {
    package let name: String
    package let metadata: ServerMetadata
    /// Issuer and client; the account may be known afterwards only.
    package let profile: ProfileID
    /// Whether the account was named, now or at the last login.
    package let hasAccount: Bool
    /// The user of the name's last login; `nil` if the name is new, or was for another server or client.
    package let user: LoggedInUser?
    package let replacesAccount: Bool
    package internal(set) var credentials: ProfileCredentials
    package let parameters: [(name: String, value: String)]
    package let pushes: Bool

    package init(
        name: String, metadata: ServerMetadata, profile: ProfileID, hasAccount: Bool, user: LoggedInUser?,
        replacesAccount: Bool, credentials: ProfileCredentials, parameters: [(name: String, value: String)],
        pushes: Bool
    ) {
        self.name = name
        self.metadata = metadata
        self.profile = profile
        self.hasAccount = hasAccount
        self.user = user
        self.replacesAccount = replacesAccount
        self.credentials = credentials
        self.parameters = parameters
        self.pushes = pushes
    }
}

/// The user of a login, as far as the login identifies one.
package struct LoggedInUser: Sendable, Hashable, Codable {
    package let account: String
    /// The account's identifier in the ID token.
    package let subject: String?
    private let displayName: String?

    package init(account: String, _ tokens: TokenSet) {
        let claims = tokens.idToken.flatMap { try? IDTokenClaims(unverified: $0) }
        self.account = account
        subject = claims?.subject
        displayName = claims?.displayName
    }

    /// The user for people: the name that the ID token has, else the account; `nil` if neither is known.
    package var name: String? { displayName ?? (account.isEmpty ? nil : account) }

    /// Whether this is certainly another user: by the ID tokens of both, or else by the accounts of both.
    func isOther(than user: LoggedInUser) -> Bool {
        if let subject, let other = user.subject { return subject != other }
        return !account.isEmpty && !user.account.isEmpty && account != user.account
    }
}

/// A login that would take the name of another account's.
package struct AccountChange: Sendable, Hashable {
    /// The name of the tokens.
    package let name: String
    /// The user of the name's last login.
    package let before: LoggedInUser
    /// The user who has logged in.
    package let after: LoggedInUser

    /// The pending change, as a clause.
    package var description: String {
        "\(name): this is the login of \(before.name ?? "another account"), and you logged in as "
            + "\(after.name ?? "another account")"
    }
}
