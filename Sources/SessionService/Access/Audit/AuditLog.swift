import Hummingbird

/// What somebody took that is secret, without the secret.
struct SecretAccess: Sendable, Hashable {
    /// What it was.
    enum Kind: String, Sendable, Hashable {
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

        /// Whether it is taken for each request that somebody makes, so that a line each would drown the rest.
        var isFrequent: Bool { self == .cookieField || self == .headerFields || self == .script }
    }

    let kind: Kind
    /// The jar, where it was out of one.
    var jar: String?
    /// The site or host that it is for, where there is one.
    var site: String?
    /// The names of what was taken: cookies, header fields, or a token's profile. Left out where ``Kind/isFrequent``.
    var names: [String] = []

    init(_ kind: Kind, jar: String? = nil, site: String? = nil, names: [String] = []) {
        self.kind = kind
        self.jar = jar
        self.site = site
        self.names = names
    }
}

/// Takes notes of who took which secret.
protocol AuditLog: Sendable {
    /// Notes it. Must not wait for a disk.
    func note(_ access: SecretAccess, by caller: Caller, from peer: String, route: String)
}

/// Takes no notes.
struct NoAuditLog: AuditLog {
    func note(_ access: SecretAccess, by caller: Caller, from peer: String, route: String) {}
}

extension ServiceRequestContext {
    /// Notes that the caller took something secret: called by every route that answers one, after it was allowed.
    func audit(_ access: SecretAccess) {
        auditLog.note(access, by: caller, from: peer, route: endpointPath ?? "")
    }
}
