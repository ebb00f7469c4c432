import CookieModel

/// What is taken so often that a line for each would drown the rest: summed up by who took what from where.
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
