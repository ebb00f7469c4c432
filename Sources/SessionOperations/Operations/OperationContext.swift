package import CookieModel
package import SessionStore

/// Where and for whom an operation works, and what the caller learns besides the answer.
package struct OperationContext: Sendable {
    package typealias Environment = @Sendable (String) -> String?
    package typealias Check = @Sendable (AccessVerb, _ jar: String?) throws -> Void

    package let database: SessionDatabase
    /// The rules, except for the settings of each jar.
    package let policy: CookiePolicy
    package let now: Timestamp
    /// The access of the caller: it is told of no other jars.
    package let grant: AccessGrant
    /// How many entries a page has, unless the caller asks for fewer; `nil` for whole lists.
    package let pageLimit: Int64?
    /// The value of a variable of the environment.
    package let environment: Environment
    private let check: Check
    /// Whether the answer is about something that was created.
    package internal(set) var isCreation = false
    /// The secrets that the answer contains.
    package internal(set) var disclosed: [SecretAccess] = []

    /// Creates a context.
    ///
    /// - Parameter check: Checks access that depends on the request: a verb for a jar, or for all jars. Throws if the
    ///   caller lacks it.
    package init(
        database: SessionDatabase, policy: CookiePolicy, now: Timestamp, grant: AccessGrant, pageLimit: Int64?,
        environment: @escaping Environment, check: @escaping Check
    ) {
        self.database = database
        self.policy = policy
        self.now = now
        self.grant = grant
        self.pageLimit = pageLimit
        self.environment = environment
        self.check = check
    }

    /// The context of the owner of a database, who gets whole lists.
    package init(
        ownerOf database: SessionDatabase, policy: CookiePolicy, now: Timestamp, environment: @escaping Environment
    ) {
        self.init(
            database: database, policy: policy, now: now, grant: .everything, pageLimit: nil, environment: environment
        ) { _, _ in }
    }

    /// Checks access that the description does not name, since it depends on the request.
    ///
    /// - Parameter jar: the jar; `nil` for all jars.
    func require(_ verb: AccessVerb, jar: String? = nil) throws {
        try check(verb, jar)
    }

    /// The jar of a name.
    ///
    /// - Throws: `SessionStoreError` if it does not exist.
    func jar(named name: String) throws(SessionStoreError) -> CookieJar {
        guard let jar = try database.existingJar(named: name, policy: policy) else {
            throw SessionStoreError(noJarNamed: name)
        }
        return jar
    }

    /// The jar of a request, and whether its answer shows values, which requires the right to see secrets.
    func jar<Document>(showingValuesAskedIn input: OperationInput<Document>) throws -> (CookieJar, showsValues: Bool) {
        let showsValues = try input.query.flag("values") ?? false
        let jar = try jar(named: input.jar)
        if showsValues { try require(.secrets, jar: jar.name) }
        return (jar, showsValues)
    }

    /// The limit of a page in a query.
    func limit(_ query: QueryItems) throws(OperationError) -> Int {
        let most = pageLimit ?? Int64(Int32.max)
        return Int(try query.number("limit", 1...most) ?? most)
    }
}

/// An access to secrets, without the secrets.
package struct SecretAccess: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// A Cookie field for a request.
        case cookieField = "cookie-field"
        /// Header fields that are kept with a jar, for a request.
        case headerFields = "header-fields"
        /// A script that sets cookies.
        case script
        /// Values of cookies.
        case cookieValues = "cookie-values"
        /// Values of header fields.
        case fieldValues = "field-values"
        /// Values of items of `localStorage`.
        case storageValues = "storage-values"
        /// A file that holds a session.
        case export
        /// An access token of an OAuth2 profile.
        case accessToken = "access-token"
        /// An ID token of an OAuth2 profile.
        case idToken = "id-token"
        /// The session of a jar, for all requests that come through a gateway.
        case gateway

        /// Whether it is taken for each request that someone makes, so that a line each would drown the rest.
        package var isFrequent: Bool { self == .cookieField || self == .headerFields || self == .script }
    }

    package let kind: Kind
    /// The jar, if it was one's.
    package var jar: String?
    /// The site or host that it is for, if it is for one.
    package var site: String?
    /// The names of the secrets: cookies, header fields, or a token's profile. Left out if ``Kind/isFrequent``.
    package var names: [String] = []

    package init(_ kind: Kind, jar: String? = nil, site: String? = nil, names: [String] = []) {
        self.kind = kind
        self.jar = jar
        self.site = site
        self.names = names
    }
}
