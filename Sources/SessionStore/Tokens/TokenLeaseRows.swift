internal import CookieModel
import Platform

/// Rows of the `token_lease` table.
struct TokenLeaseRows {
    let database: Connection

    /// A stored lease.
    struct Lease {
        let holder: LeaseHolder
        let expiry: Timestamp

        /// Whether to wait for its holder. A lease with an impossibly late end was written before the clock was set
        /// back.
        func isBelieved(at now: Timestamp) -> Bool {
            expiry > now && expiry <= now.advanced(bySeconds: 3600)
        }
    }

    func lease(_ profileID: Int64) throws -> Lease? {
        try database.statement("SELECT holder, expires_at FROM token_lease WHERE profile_id = ?")
            .first(profileID) { Lease(holder: LeaseHolder($0.text(0)), expiry: $0.timestamp(1)) }
    }

    func put(_ profileID: Int64, _ holder: LeaseHolder, _ expiry: Timestamp) throws {
        try database.statement(
            """
            INSERT INTO token_lease (profile_id, holder, expires_at) VALUES (?, ?, ?)
            ON CONFLICT (profile_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
            """
        ).run(profileID, holder.description, expiry)
    }

    func renew(_ name: String, _ holder: LeaseHolder, _ expiry: Timestamp) throws -> Bool {
        try database.statement(
            """
            UPDATE token_lease SET expires_at = ?
            WHERE profile_id = (SELECT id FROM token_profile WHERE name = ?) AND holder = ?
            """
        ).runCounting(expiry, name, holder.description) > 0
    }

    func release(_ profileID: Int64, _ holder: LeaseHolder) throws {
        try database.statement("DELETE FROM token_lease WHERE profile_id = ? AND holder = ?").run(
            profileID, holder.description)
    }
}

/// The holder of a lease: one refresh of one process.
package struct LeaseHolder: Hashable, Sendable, CustomStringConvertible {
    /// The holder as the database stores it, such as `4711-9c2f…@2f81…/977`: the process ID, an identifier that is
    /// unique to the refresh, and the name of the process, if it has one (``ProcessLiveness``).
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Creates a holder for a refresh of the process with that process ID.
    init(process: Int32, liveness: ProcessLiveness = .none, using generator: inout some RandomNumberGenerator) {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 16) }
        let name = liveness.name(process).map { "@\($0)" } ?? ""
        self.init("\(process)-\(digits.joined())\(name)")
    }

    /// Whether the holder's process has certainly ended, so that no caller has to wait for its lease.
    func hasEnded(by liveness: ProcessLiveness) -> Bool {
        guard let process, let at = description.firstIndex(of: "@") else { return false }
        return liveness.hasEnded(process, String(description[at...].dropFirst()))
    }

    /// The process ID, for messages. Another machine may use the same.
    package var process: Int32? { Int32(description.prefix { $0 != "-" }) }
}

/// Determines whether a process that holds a lease has certainly ended.
///
/// A process ID alone is not enough: it is used again, and other machines and containers use the same ones. So the name
/// of a process consists of the boot of its machine, its namespaces, and the time of its start, which together are
/// unique.
package struct ProcessLiveness: Sendable {
    /// Returns the unique name of the running process with a process ID; `nil` if it is unavailable.
    let name: @Sendable (_ process: Int32) -> String?
    /// Returns whether the process with a process ID and a name has certainly ended, and can no longer send anything.
    let hasEnded: @Sendable (_ process: Int32, _ name: String) -> Bool

    init(
        name: @escaping @Sendable (Int32) -> String?, hasEnded: @escaping @Sendable (Int32, String) -> Bool
    ) {
        self.name = name
        self.hasEnded = hasEnded
    }

    /// Knows nothing, so callers wait for the end of every lease.
    package static let none = ProcessLiveness(name: { _ in nil }, hasEnded: { _, _ in false })

    /// The liveness that `/proc` reports; unknown on a system without `/proc`.
    package static let system = ProcessLiveness(
        name: { process in
            guard let place = ProcFile.place, let status = ProcFile.status(of: process) else { return nil }
            return "\(place)/\(status.start)"
        },
        hasEnded: { process, name in
            // A process of another machine, boot or container is not visible here.
            guard let place = ProcFile.place, name.hasPrefix("\(place)/"), process > 0 else { return false }
            guard let status = ProcFile.status(of: process) else {
                // The process may only be invisible to this user.
                return kill(process, 0) != 0 && errno == ESRCH
            }
            // A zombie process has closed all its connections.
            return "\(place)/\(status.start)" != name || status.isZombie
        })
}

/// The files of `/proc` that describe processes.
private enum ProcFile {
    /// The machine's boot, and the namespaces in which process IDs and start times are valid; `nil` if unknown.
    static var place: String? {
        guard let boot = text("/proc/sys/kernel/random/boot_id"), let numbers = link("/proc/self/ns/pid") else {
            return nil
        }
        let identifier = boot.prefix { $0.isHexDigit || $0 == "-" }
        guard !identifier.isEmpty else { return nil }
        return "\(identifier).\(digits(numbers)).\(link("/proc/self/ns/time").map(digits) ?? "")"
    }

    /// The state of a process (proc_pid_stat(5)); `nil` if the process is not visible.
    static func status(of process: Int32) -> (start: Substring, isZombie: Bool)? {
        // The name in brackets may contain brackets and blanks. After the last bracket, all fields are plain.
        guard let text = text("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].dropFirst().split(separator: " ")
        // The third field and the 22nd.
        guard fields.count > 19 else { return nil }
        return (fields[19], ["Z", "X", "x"].contains(fields[0]))
    }

    private static func digits(_ text: String) -> String { text.filter(\.isNumber) }

    private static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
