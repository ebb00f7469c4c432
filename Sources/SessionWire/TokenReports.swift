/// A token set without its tokens.
package struct StoredTokenReport: Codable, Sendable {
    /// The name.
    package let name: String
    /// The issuer of the authorization server.
    package let issuer: String
    /// The client's identifier.
    package let clientID: String
    /// The name of the account.
    package let account: String
    /// The user who logged in, as the ID token names them; otherwise the account.
    package let user: String?
    /// `valid`, `due`, `expired`, `unknown`, or `login-required`.
    package let state: String
    /// The scope that was granted.
    package let scope: String?
    /// When it expires (RFC 3339).
    package let expires: String?
    /// Whether there is a refresh token.
    package let hasRefreshToken: Bool
    /// When the user's grant ends (RFC 3339), and with it every refresh; only if the server reports it.
    package let grantExpires: String?
    /// Why the new ID token was rejected: one sentence. The previous one stays.
    package let idTokenProblem: String?

    package init(
        name: String, issuer: String, clientID: String, account: String, user: String? = nil, state: String,
        scope: String? = nil, expires: String? = nil, hasRefreshToken: Bool, grantExpires: String? = nil,
        idTokenProblem: String? = nil
    ) {
        self.name = name
        self.issuer = issuer
        self.clientID = clientID
        self.account = account
        self.user = user
        self.state = state
        self.scope = scope
        self.expires = expires
        self.hasRefreshToken = hasRefreshToken
        self.grantExpires = grantExpires
        self.idTokenProblem = idTokenProblem
    }
}

/// The stored token sets, without their tokens.
package struct StoredTokenList: Codable, Sendable {
    /// The logins.
    package let tokens: [StoredTokenReport]
    /// How many token sets cannot be read.
    package let unreadable: Int
    /// The problem of each token set that cannot be read; `nil` if all can be read.
    package let problems: [String]?

    package init(tokens: [StoredTokenReport] = [], unreadable: Int = 0, problems: [String]? = nil) {
        self.tokens = tokens
        self.unreadable = unreadable
        self.problems = problems
    }
}

/// A login in full, without its secrets.
package struct TokenStatusReport: Codable, Sendable {
    /// The login without its details.
    package let token: StoredTokenReport
    /// The type of the access token, such as `Bearer`.
    package let tokenType: String
    /// When the tokens were received (RFC 3339).
    package let received: String
    /// When the refresh token expires (RFC 3339).
    package let refreshTokenExpires: String?
    /// Whether there is an ID token.
    package let hasIDToken: Bool
    /// How the tokens were obtained; `nil` if another tool did.
    package let grant: String?
    /// How the client authenticates.
    package let authenticationMethod: String?
    /// The scope that was requested.
    package let requestedScope: String?
    /// The URLs of the resources that the token is for.
    package let resources: [String]
    /// The URLs of the server's endpoints by name.
    package let endpoints: [String: String]
    /// Whether the tokens are bound to a key (RFC 9449).
    package let isBoundToKey: Bool
    /// The SHA-256 thumbprint of the certificate that the access token is bound to (RFC 8705).
    package let boundCertificate: String?
    /// The database that holds the login; only from the command.
    package var database: String?
    /// The key that seals the login; only from the command.
    package var key: String?
    /// The process that refreshes the tokens now; `nil` if none does.
    package let refreshingProcess: Int32?

    package init(
        token: StoredTokenReport, tokenType: String, received: String, refreshTokenExpires: String? = nil,
        hasIDToken: Bool, grant: String? = nil, authenticationMethod: String? = nil, requestedScope: String? = nil,
        resources: [String], endpoints: [String: String], isBoundToKey: Bool, boundCertificate: String? = nil,
        database: String? = nil, key: String? = nil, refreshingProcess: Int32? = nil
    ) {
        self.token = token
        self.tokenType = tokenType
        self.received = received
        self.refreshTokenExpires = refreshTokenExpires
        self.hasIDToken = hasIDToken
        self.grant = grant
        self.authenticationMethod = authenticationMethod
        self.requestedScope = requestedScope
        self.resources = resources
        self.endpoints = endpoints
        self.isBoundToKey = isBoundToKey
        self.boundCertificate = boundCertificate
        self.database = database
        self.key = key
        self.refreshingProcess = refreshingProcess
    }
}

/// An access token, with the details that a client needs to present it.
public struct AccessTokenReport: Codable, Sendable {
    /// The access token. It is a secret.
    public let accessToken: String
    /// The type of the access token, such as `Bearer`.
    public let tokenType: String
    /// When it expires (RFC 3339).
    public let expires: String?
    /// The value of the `DPoP` field for the request that was named, if the token is bound to a key.
    public let proof: String?
    /// `true` if the server no longer accepts the login, so that the token cannot be renewed; otherwise `nil`.
    public let loginRequired: Bool?

    package init(
        accessToken: String, tokenType: String, expires: String? = nil, proof: String? = nil, loginRequired: Bool? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expires = expires
        self.proof = proof
        self.loginRequired = loginRequired
    }
}

/// An ID token and when it expires.
package struct IDTokenReport: Codable, Sendable {
    /// The ID token. It is a secret.
    package let idToken: String
    /// When it expires (RFC 3339).
    package let expires: String?

    package init(idToken: String, expires: String? = nil) {
        self.idToken = idToken
        self.expires = expires
    }
}

/// Whether a running service is locked.
package struct AgentReport: Codable, Sendable {
    /// Whether the service is locked.
    package let isLocked: Bool

    package init(isLocked: Bool) {
        self.isLocked = isLocked
    }
}

/// The tokens that were revoked at the authorization server.
public struct RevocationReport: Codable, Sendable {
    /// The name.
    package let name: String
    /// The kinds of tokens that were revoked.
    public let revoked: [String]
    /// Whether the login was removed.
    package let isRemoved: Bool
    /// Why the server did not revoke them; `nil` if it did.
    public let problem: String?

    package init(name: String, revoked: [String], isRemoved: Bool, problem: String? = nil) {
        self.name = name
        self.revoked = revoked
        self.isRemoved = isRemoved
        self.problem = problem
    }
}

/// A login that was removed.
package struct TokenRemoval: Codable, Sendable {
    /// The name of the login.
    package let removed: String

    package init(removed: String) {
        self.removed = removed
    }
}

/// A login rule of a jar.
package struct LoginRuleReport: Codable, Sendable {
    /// The name.
    package let name: String
    /// The beginning of the URLs that the rule is for.
    package let scope: String
    /// The name of the login.
    package let profile: String
    /// The statuses that say "not signed in".
    package let statuses: [Int]
    /// The beginning of the URLs of login pages that the site redirects to.
    package let redirects: [String]
    /// How the token gets to the site: `cookie`, `authorization` or `exchange`.
    package let delivery: String
    /// The `Set-Cookie` line with `{access_token}` or `{id_token}`, or the URL that answers with cookies.
    package let template: String?

    package init(
        name: String, scope: String, profile: String, statuses: [Int], redirects: [String], delivery: String,
        template: String? = nil
    ) {
        self.name = name
        self.scope = scope
        self.profile = profile
        self.statuses = statuses
        self.redirects = redirects
        self.delivery = delivery
        self.template = template
    }
}

/// The login rules of a jar.
package struct LoginRuleList: Codable, Sendable {
    /// The rules.
    package let rules: [LoginRuleReport]

    package init(rules: [LoginRuleReport]) {
        self.rules = rules
    }
}

/// A response that says "not signed in", and the next step.
public struct LoginChallengeReport: Codable, Sendable {
    /// The next step.
    public enum Action: String, Codable, Sendable {
        /// Have the tokens renewed and delivered (`renewals`), then send the request again with the result if
        /// ``mayRepeat``.
        case renew
        /// Send the request again with the jar's cookies: they were renewed after the request was sent.
        case sendAgain = "send-again"
        /// Log in again under the name of the profile.
        case logIn = "log-in"
        /// Nothing: the session was renewed after the request was sent, which must not be sent again.
        case none
    }

    /// The next step.
    public let action: Action
    /// Whether the request may be sent again afterwards: its method is safe, or the site has certainly not acted on it
    /// (RFC 9110, section 9.2.2). If not, the response is final, and the next request is signed in.
    public let mayRepeat: Bool
    /// The name of the rule that matched.
    package let rule: String
    /// The sign that the response gave.
    package let sign: String
    /// The name of the login.
    public let profile: String
    /// The page that the site wants the user to log in on.
    public let loginURL: String?
    /// How the site wants the user to log in: `acr_values` (RFC 9470, section 3).
    public let authenticationContext: String?
    /// How many seconds ago the login may have been at most: `max_age` (RFC 9470, section 3).
    public let maximumAge: Int?

    package init(
        action: Action, mayRepeat: Bool, rule: String, sign: String, profile: String, loginURL: String? = nil,
        authenticationContext: String? = nil, maximumAge: Int? = nil
    ) {
        self.action = action
        self.mayRepeat = mayRepeat
        self.rule = rule
        self.sign = sign
        self.profile = profile
        self.loginURL = loginURL
        self.authenticationContext = authenticationContext
        self.maximumAge = maximumAge
    }
}

/// A login, and the step that the user has to take for it.
public struct LoginReport: Codable, Sendable {
    /// The stable identifier.
    public let id: String
    /// The name.
    public let name: String
    /// `pending`, `done` or `failed`.
    public let state: String
    /// When it expires (RFC 3339).
    public let expires: String
    /// The problem, if the login failed.
    public package(set) var problem: ProblemReport?
    /// The page on which the user types the code. Only in the answer that begins the login.
    public package(set) var verificationURI: String?
    /// The same page with the code in its URL.
    public package(set) var verificationURIComplete: String?
    /// The code that the user types.
    public package(set) var userCode: String?
    /// The page that the browser opens. Only in the answer that begins the login.
    public package(set) var authorizationURL: String?

    package init(
        id: String, name: String, state: String, expires: String, problem: ProblemReport? = nil,
        verificationURI: String? = nil, verificationURIComplete: String? = nil, userCode: String? = nil,
        authorizationURL: String? = nil
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.expires = expires
        self.problem = problem
        self.verificationURI = verificationURI
        self.verificationURIComplete = verificationURIComplete
        self.userCode = userCode
        self.authorizationURL = authorizationURL
    }
}
