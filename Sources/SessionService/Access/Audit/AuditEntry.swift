import CookieModel

/// A line of the audit log: who took what, and when.
struct AuditEntry: Encodable, Sendable, Equatable {
    /// When it was; of several, the last time.
    var time: String
    let caller: String
    let peer: String
    let route: String
    let kind: String
    let jar: String?
    let site: String?
    let names: [String]?
    /// How often it was, from ``since`` to ``time``; `nil` for once.
    var count: Int?
    var since: String?

    init(_ access: SecretAccess, caller: Caller, peer: String, route: String, time: Timestamp) {
        self.time = time.rfc3339
        self.caller = caller.name
        self.peer = peer
        self.route = route
        kind = access.kind.rawValue
        jar = access.jar
        site = access.site
        names = access.names.isEmpty ? nil : access.names
    }
}
