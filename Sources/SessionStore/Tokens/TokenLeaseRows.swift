internal import CookieModel
import Platform

/// The `token_lease` table.
struct TokenLeaseRows {
    let database: Connection

    /// A lease as it stands in its row.
    struct Lease {
        let holder: LeaseHolder
        let expiry: Timestamp

        /// Whether its holder is to be waited for. An end that no holder can mean was written before the clock was set
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
public struct LeaseHolder: Hashable, Sendable, CustomStringConvertible {
    /// The holder as the database keeps it, such as `4711-9c2f…@2f81…/977`: the process's number, what no other refresh
    /// has, and the process's name where it has one (``ProcessLiveness``).
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// A holder for a refresh of the process of that number.
    init(process: Int32, liveness: ProcessLiveness = .none, using generator: inout some RandomNumberGenerator) {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 16) }
        let name = liveness.name(process).map { "@\($0)" } ?? ""
        self.init("\(process)-\(digits.joined())\(name)")
    }

    /// Whether the holder's process has ended for certain, so that its lease need not be waited for.
    func hasEnded(by liveness: ProcessLiveness) -> Bool {
        guard let process, let at = description.firstIndex(of: "@") else { return false }
        return liveness.hasEnded(process, String(description[at...].dropFirst()))
    }

    /// The process's number, for people: another machine may have the same.
    public var process: Int32? { Int32(description.prefix { $0 != "-" }) }
}

/// Tells whether a process that holds a lease has ended, where that is certain.
///
/// A number alone says little: numbers are used again, and other machines and containers have the same ones. So a process
/// is named by what nothing else has: the boot of its machine, its namespaces, and the moment of its start.
public struct ProcessLiveness: Sendable {
    /// A name of the running process of a number that no other process has, ever; `nil` where there is none to be had.
    let name: @Sendable (_ process: Int32) -> String?
    /// Whether the process that had a number and a name has ended for certain, and can send nothing any more.
    let hasEnded: @Sendable (_ process: Int32, _ name: String) -> Bool

    init(
        name: @escaping @Sendable (Int32) -> String?, hasEnded: @escaping @Sendable (Int32, String) -> Bool
    ) {
        self.name = name
        self.hasEnded = hasEnded
    }

    /// Knows nothing, so that every lease is waited for to its end.
    public static let none = ProcessLiveness(name: { _ in nil }, hasEnded: { _, _ in false })

    /// The liveness that `/proc` reports; unknown on a system without `/proc`.
    public static let system = ProcessLiveness(
        name: { process in
            guard let place = ProcFile.place, let status = ProcFile.status(of: process) else { return nil }
            return "\(place)/\(status.start)"
        },
        hasEnded: { process, name in
            // A name of another machine, boot or container does not belong to a process that is visible here.
            guard let place = ProcFile.place, name.hasPrefix("\(place)/"), process > 0 else { return false }
            guard let status = ProcFile.status(of: process) else {
                // Not to be seen may only mean not to be seen by this user.
                return kill(process, 0) != 0 && errno == ESRCH
            }
            // One that only waits to be noticed by its parent has closed everything it had open.
            return "\(place)/\(status.start)" != name || status.isZombie
        })
}

/// The files of `/proc` that describe processes.
private enum ProcFile {
    /// The machine's boot, and the namespaces in which numbers and starts of processes count; `nil` where unknown.
    static var place: String? {
        guard let boot = text("/proc/sys/kernel/random/boot_id"), let numbers = link("/proc/self/ns/pid") else {
            return nil
        }
        let identifier = boot.prefix { $0.isHexDigit || $0 == "-" }
        guard !identifier.isEmpty else { return nil }
        return "\(identifier).\(digits(numbers)).\(link("/proc/self/ns/time").map(digits) ?? "")"
    }

    /// The state of a process (proc_pid_stat(5)); `nil` where it is not to be seen.
    static func status(of process: Int32) -> (start: Substring, isZombie: Bool)? {
        // The name in brackets may hold brackets and blanks; after the last bracket there are only plain fields.
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
