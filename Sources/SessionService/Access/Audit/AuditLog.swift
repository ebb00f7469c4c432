import CookieModel
import Hummingbird
import SessionOperations

extension ServiceRequestContext {
    /// Notes that the caller took something secret: called by every route that answers one, after it was allowed.
    func audit(_ access: SecretAccess) {
        auditLog?.note(access, by: caller, from: peer, route: endpointPath ?? "")
    }
}

/// A line of the audit log: an access, its caller and its time.
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

/// Accesses so frequent that a line for each would drown the rest. They are counted by access, caller and peer.
struct AuditSummary {
    private struct Key: Hashable {
        let access: SecretAccess
        let caller: String
        let peer: String
        let route: String
    }

    private struct Sum {
        let caller: Caller
        var count: Int
        let first: Timestamp
        var last: Timestamp
    }

    private var sums: [Key: Sum] = [:]

    /// How many lines it would be.
    var count: Int { sums.count }

    mutating func add(_ access: SecretAccess, by caller: Caller, from peer: String, route: String, at time: Timestamp) {
        let key = Key(access: access, caller: caller.name, peer: peer, route: route)
        if let index = sums.index(forKey: key) {
            sums.values[index].count += 1
            sums.values[index].last = time
        } else {
            sums[key] = Sum(caller: caller, count: 1, first: time, last: time)
        }
    }

    /// The lines, in the order in which they began.
    mutating func take() -> [AuditEntry] {
        defer { sums = [:] }
        return sums.sorted { $0.value.first < $1.value.first }.map { key, sum in
            var entry = AuditEntry(
                key.access, caller: sum.caller, peer: key.peer, route: key.route, time: sum.last)
            if sum.count > 1 {
                entry.count = sum.count
                entry.since = sum.first.rfc3339
            }
            return entry
        }
    }
}
