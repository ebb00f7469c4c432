internal import CookieModel
internal import Crypto

/// A table for moving rows between a file and a server. Both have the same columns, and sealed values are moved
/// unchanged.
struct MovedTable {
    /// The type of a column. SQLite reports it with each value, PostgreSQL does not.
    enum Kind: UInt8 {
        case number = 1
        case text, octets
    }

    /// Names of columns with their types.
    typealias Columns = [(name: String, kind: Kind)]

    let name: String
    let columns: Columns
    /// SQL for "the row belongs to the jar with the ID `?1`".
    let ofJar: String
    /// Whether rows have an `id` that is unique in the whole database.
    let hasID: Bool

    init(_ name: String, ofJar: String = "true", hasID: Bool = false, _ columns: Columns) {
        self.name = name
        self.columns = columns
        self.ofJar = ofJar
        self.hasID = hasID
    }

    /// The tables of a jar, each after those that it refers to.
    static let ofJars = [
        MovedTable(
            "jar", ofJar: "id = ?1", hasID: true,
            [
                ("id", .number), ("name", .text), ("profile", .text), ("created_at", .number),
                ("domain_cookies", .number), ("total_cookies", .number), ("partition_cookies", .number),
                ("partition_octets", .number), ("request_cookies", .number), ("request_octets", .number),
                ("next_sequence", .number), ("next_change", .number), ("first_change", .number),
                ("removed_name", .text), ("removed_at", .number),
            ]),
        MovedTable(
            "capture", ofJar: "jar_id = ?1", hasID: true,
            [
                ("id", .number), ("jar_id", .number), ("digest", .octets), ("name", .text), ("imported_at", .number),
                ("from_requests", .number),
            ]),
        MovedTable(
            "snapshot", ofJar: "jar_id = ?1", hasID: true,
            [("id", .number), ("jar_id", .number), ("name", .text), ("created_at", .number)]),
        MovedTable(
            "jar_undo", ofJar: "jar_id = ?1", [("jar_id", .number), ("cause", .text), ("made_at", .number)]),
        MovedTable("cookie", ofJar: "jar_id = ?1", [("jar_id", .number)] + CookieColumns.all),
        MovedTable(
            "snapshot_cookie", ofJar: "jar_id = ?1",
            [("jar_id", .number), ("snapshot_id", .number)] + CookieColumns.all),
        // The id of an entry begins with its jar's: a range of the primary key.
        MovedTable(
            "cookie_change", ofJar: "id >= ?1 * 68719476736 AND id < (?1 + 1) * 68719476736",
            [
                ("id", .number), ("cause", .number), ("changed_at", .number), ("site", .octets), ("domain", .octets),
                ("path", .octets), ("name", .octets), ("host_only", .number), ("partition_key", .text),
                ("next_sequence", .number), ("capture_id", .number), ("source_url", .text), ("ended_at", .number),
            ]),
        MovedTable(
            "rejected_cookie", ofJar: "jar_id = ?1",
            [
                ("jar_id", .number), ("site", .octets), ("host", .octets), ("name", .octets), ("reasons", .text),
                ("rejected_at", .number),
            ]),
        MovedTable("jar_site", ofJar: "jar_id = ?1", [("site", .octets), ("jar_id", .number)]),
        MovedTable(
            "header_field", ofJar: "jar_id = ?1",
            [("jar_id", .number), ("name", .text), ("scope", .text), ("value", .octets)]),
        MovedTable(
            "login_rule", ofJar: "jar_id = ?1", [("jar_id", .number), ("name", .text), ("definition", .text)]),
        MovedTable(
            "web_storage", ofJar: "jar_id = ?1",
            [
                ("jar_id", .number), ("snapshot_id", .number), ("origin", .text), ("key", .octets),
                ("value", .octets), ("sequence", .number),
            ]),
    ]

    /// The tables that belong to no jar. Leases of refreshes in progress, logins in progress, and the confirmed clock
    /// of a machine are not moved.
    static let ofDatabases = [
        MovedTable(
            "token_profile", hasID: true,
            [
                ("id", .number), ("name", .text), ("issuer", .text), ("client_id", .text), ("account", .text),
                ("token_type", .text), ("scope", .text), ("access_token", .octets), ("refresh_token", .octets),
                ("id_token", .octets), ("received_at", .number), ("access_expires_at", .number),
                ("refresh_expires_at", .number), ("generation", .number), ("created_at", .number),
                ("settings", .text), ("client_secret", .octets), ("proof_key", .octets), ("refused_at", .number),
                ("grant_expires_at", .number), ("grant_key", .octets), ("client_certificate", .octets),
                ("registration_token", .octets), ("resource_tokens", .octets),
            ]),
        MovedTable(
            "token_change",
            [
                ("position", .number), ("name", .text), ("cause", .number), ("changed_at", .number),
                ("generation", .number),
            ]),
        MovedTable(
            "service_token", hasID: true,
            [
                ("id", .number), ("name", .text), ("digest", .octets), ("verbs", .text), ("is_for_all_jars", .number),
                ("created_at", .number), ("expires_at", .number), ("revoked_at", .number), ("last_used_at", .number),
            ]),
        MovedTable("service_token_jar", [("token_id", .number), ("jar_name", .text)]),
        MovedTable("former_journal", [("id", .number), ("next_change", .number)]),
        MovedTable(
            "gateway_authority",
            [
                ("id", .number), ("hosts", .text), ("certificate", .text), ("private_key", .octets),
                ("created_at", .number), ("expires_at", .number),
            ]),
    ]
}

// MARK: - Rows

extension MovedTable {
    /// Calls `body` for each row of a jar, or of the whole database.
    func forEach(_ database: Connection, jarID: Int64?, _ body: (Statement) throws -> Void) throws {
        let names = columns.map(\.name).joined(separator: ", ")
        try database.statement("SELECT \(names) FROM \(name) WHERE \(ofJar)").forEach(jarID, body: body)
    }

    /// Copies the rows from one database to another.
    func copy(from source: Connection, to target: Connection, jarID: Int64?) throws {
        let names = columns.map(\.name).joined(separator: ", ")
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let insertion = try target.statement("INSERT INTO \(name) (\(names)) VALUES (\(places))")
        try forEach(source, jarID: jarID) { row in
            for (index, column) in columns.enumerated() {
                let (from, to) = (Int32(index), Int32(index + 1))
                if row.isNull(from) {
                    insertion.bindNull(to)
                } else {
                    switch column.kind {
                    case .number: insertion.bind(to, row.int64(from))
                    case .text: insertion.bind(to, text: row.text(from))
                    case .octets: insertion.bind(to, row.bytes(from))
                    }
                }
            }
            try insertion.run()
        }
    }

    /// Adds all rows to a digest.
    func add(to digest: inout MovedDigest, _ database: Connection, jarID: Int64?) throws {
        try forEach(database, jarID: jarID) { row in
            var hash = SHA256()
            hash.update(data: Array(name.utf8))
            for (index, column) in columns.enumerated() {
                let index = Int32(index)
                let isNull = row.isNull(index)
                hash.update(data: [isNull ? 0 : column.kind.rawValue])
                guard !isNull else { continue }
                if column.kind == .number {
                    withUnsafeBytes(of: row.int64(index).bigEndian) { hash.update(bufferPointer: $0) }
                } else {
                    let octets = row.borrowedBytes(index)
                    withUnsafeBytes(of: Int64(octets.count).bigEndian) { hash.update(bufferPointer: $0) }
                    hash.update(bufferPointer: octets)
                }
            }
            digest.add(Array(hash.finalize()), isCookie: name == "cookie")
        }
    }
}

/// A digest of rows that does not depend on their order, because engines sort the names of header fields differently.
struct MovedDigest: Hashable {
    private(set) var rows = 0
    private(set) var cookies = 0
    private var octets = [UInt8](repeating: 0, count: 32)

    /// The digest of a jar, or of the rows that belong to no jar.
    init(_ database: Connection, jarID: Int64?) throws {
        for table in jarID == nil ? MovedTable.ofDatabases : MovedTable.ofJars {
            try table.add(to: &self, database, jarID: jarID)
        }
    }

    fileprivate mutating func add(_ row: [UInt8], isCookie: Bool) {
        rows += 1
        if isCookie { cookies += 1 }
        for (index, octet) in row.enumerated() { octets[index] ^= octet }
    }

    /// Two hexadecimal digits for each octet.
    var text: String { Hexadecimal.text(octets) }
}
