package import CookieModel
internal import Synchronization

/// A cookie that a response tried to set and the rules rejected. Never its value.
package struct CookieRejection: Sendable, Hashable {
    /// How many octets of a name are kept.
    static let nameLimit = 256
    /// Reasons that say nothing about the site's cookies.
    private static let ignoredReasons: [RejectionReason] = [.timeUnknown, .gatewayWitness]

    /// The name, cut to 256 octets; empty if the line could not be read.
    package let name: Octets
    /// The host whose response it was.
    package let host: WebHost
    /// The reasons for the rejection.
    package let reasons: ReasonSet<RejectionReason>
    /// When the response came.
    package let time: Timestamp

    /// The rejection of a decision; `nil` for any other outcome, and if the reason does not concern the site.
    init?(_ decision: borrowing StorageDecision, from host: WebHost, at time: Timestamp) {
        guard decision.outcome == .rejected,
            !CookieRejection.ignoredReasons.contains(where: decision.reasons.contains)
        else { return nil }
        self.init(
            name: Octets(Array((decision.name ?? []).prefix(CookieRejection.nameLimit))), host: host,
            reasons: decision.reasons, time: time)
    }

    init(name: Octets, host: WebHost, reasons: ReasonSet<RejectionReason>, time: Timestamp) {
        self.name = name
        self.host = host
        self.reasons = reasons
        self.time = time
    }

    /// Whether the host could have meant this cookie: it has the same name, and is sent to the host.
    package func concerns(_ cookie: Cookie.ID) -> Bool {
        guard cookie.name.prefix(CookieRejection.nameLimit).elementsEqual(name) else { return false }
        return cookie.isHostOnly ? cookie.domain == host : CookiePolicy.domainMatches(host, cookie.domain.octets)
    }
}

/// The rejections of a batch: the newest of each name and host, with the registrable domain, at most as many as a jar
/// keeps.
struct RejectionList {
    private struct Key: Hashable {
        let name: Octets
        let host: WebHost
    }

    private var newest: [Key: (rejection: CookieRejection, site: Octets)] = [:]

    /// The rejections, the latest last.
    var entries: [(rejection: CookieRejection, site: Octets)] {
        newest.values.sorted { $0.rejection.time < $1.rejection.time }.suffix(Int(RejectionRows.limit))
    }

    mutating func append(_ decisions: [StorageDecision], from host: WebHost, site: Octets, at time: Timestamp) {
        for decision in decisions {
            guard let rejection = CookieRejection(decision, from: host, at: time) else { continue }
            let key = Key(name: rejection.name, host: host)
            if let known = newest[key], known.rejection.time > time { continue }
            // A copy of the site: the original keeps the whole URL in memory.
            newest[key] = (rejection, Octets(Array(site)))
        }
        guard newest.count > 2 * Int(RejectionRows.limit) else { return }
        newest = Dictionary(
            entries.map { (Key(name: $0.rejection.name, host: $0.rejection.host), $0) }, uniquingKeysWith: { $1 })
    }
}

/// The rejections that this process has recorded recently, so that a response that repeats one needs no transaction.
final class RejectionMemory: Sendable {
    /// For how many seconds a rejection is not recorded again.
    private static let interval: Int64 = 60
    /// How many rejections are remembered.
    private static let limit = 1000

    private struct Key: Hashable {
        let jarID: Int64
        let name: Octets
        let host: WebHost
        let reasons: ReasonSet<RejectionReason>

        init(_ rejection: CookieRejection, jarID: Int64) {
            self.jarID = jarID
            (name, host, reasons) = (rejection.name, rejection.host, rejection.reasons)
        }
    }

    private let recorded = Mutex<[Key: Timestamp]>([:])

    /// Whether the same rejection was recorded later, or less than a minute earlier.
    func knows(_ rejection: CookieRejection, ofJar jarID: Int64) -> Bool {
        guard let time = recorded.withLock({ $0[Key(rejection, jarID: jarID)] }) else { return false }
        return rejection.time < time.advanced(bySeconds: RejectionMemory.interval)
    }

    func note(_ rejection: CookieRejection, ofJar jarID: Int64) {
        recorded.withLock { recorded in
            if recorded.count >= RejectionMemory.limit { recorded = [:] }
            recorded[Key(rejection, jarID: jarID)] = rejection.time
        }
    }

    /// Clears the memory, after rows were removed.
    func forget() {
        recorded.withLock { $0 = [:] }
    }
}

extension CookieJar {
    /// The newest rejection of each name from the hosts of a registrable domain, the latest first: at most 100.
    package func rejections(site: Octets) throws(SessionStoreError) -> [CookieRejection] {
        try database.read { try RejectionRows(database: $0, jarID: id).rejections(site: site) }
    }

    /// Records rejections after the transaction that caused them. Never fails, and never waits for another process,
    /// because the responses are already stored.
    func record(_ rejections: RejectionList) {
        let unknown = rejections.entries.filter { !database.rejections.knows($0.rejection, ofJar: id) }
        guard !unknown.isEmpty else { return }
        do {
            try database.writeUnlessBusy(.jar(id)) { connection in
                let rows = RejectionRows(database: connection, jarID: id)
                for (rejection, site) in unknown { try rows.write(rejection, site: site) }
                try rows.removeOldest(keeping: RejectionRows.limit)
            }
        } catch {
            // The next response that repeats a rejection records it.
            return
        }
        for (rejection, _) in unknown { database.rejections.note(rejection, ofJar: id) }
    }
}

/// Rows of the `rejected_cookie` table: the rejections of one jar.
struct RejectionRows {
    /// How many a jar keeps.
    static let limit: Int64 = 100

    let database: Connection
    let jarID: Int64

    /// Stores a rejection, replacing an earlier one of the same name and host.
    func write(_ rejection: CookieRejection, site: Octets) throws {
        try database.statement(
            """
            INSERT INTO rejected_cookie (jar_id, site, host, name, reasons, rejected_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (jar_id, site, host, name) DO UPDATE SET
                reasons = excluded.reasons, rejected_at = excluded.rejected_at
            WHERE excluded.rejected_at >= rejected_cookie.rejected_at
            """
        ).run(
            jarID, site, rejection.host.octets, rejection.name, rejection.reasons.identifiers.joined(separator: ","),
            rejection.time)
    }

    /// Removes all but the newest rejections.
    func removeOldest(keeping count: Int64) throws {
        try database.statement(
            """
            DELETE FROM rejected_cookie WHERE jar_id = ?1 AND (site, host, name) IN (
                SELECT site, host, name FROM rejected_cookie WHERE jar_id = ?1
                ORDER BY rejected_at DESC, site, host, name LIMIT \(Int64.max) OFFSET ?2)
            """
        ).run(jarID, count)
    }

    func rejections(site: Octets) throws -> [CookieRejection] {
        try database.statement(
            """
            SELECT host, name, reasons, rejected_at FROM rejected_cookie WHERE jar_id = ?1 AND site = ?2
            ORDER BY rejected_at DESC, host, name
            """
        ).rows(jarID, site) { row in
            // A newer version of the program may know more reasons.
            var reasons: ReasonSet<RejectionReason> = []
            let identifiers = Set(row.text(2).split(separator: ",").map(String.init))
            for reason in RejectionReason.allCases where identifiers.contains(reason.identifier) {
                reasons.insert(reason)
            }
            return CookieRejection(
                name: Octets(row.bytes(1)), host: WebHost(stored: Octets(row.bytes(0))),
                reasons: reasons, time: row.timestamp(3))
        }
    }
}
