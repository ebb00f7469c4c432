import CookieModel
import Foundation
import GRDB
import OAuth2

@testable import SQLiteEngine
@testable import SessionStore

/// A database as an older version of the program left it, with rows in it that the real sealer sealed.
///
/// The rows are written by SQL of their own: the program's statements know the newest schema only.
struct OldDatabase {
    let path: String
    /// How many of the migrations it has seen.
    let version: Int

    static let refreshTokenExpiry = Given.now.advanced(bySeconds: 500)
    static let grantExpiry = Given.now.advanced(bySeconds: 900)
    private static let host = "www.example.com"

    func make(key: SealingKey, cookies: Int = 200, profile: String = "rfc6265bis") throws {
        _ = PrivateFile.create(path)
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA application_id = \(DatabaseFile.applicationID); PRAGMA journal_mode = WAL")
        }
        try SchemaMigrations.run(on: queue, path: path, migrations: Array(SchemaMigrations.all.prefix(version)))
        try queue.write { database in
            let connection = Connection.sqlite(
                SQLiteConnection(database, kept: KeptStatements(), control: KeptStatements()))
            try SealingKeyRows(database: connection).append(key, now: Given.now)
            let sealer = Sealer(key, id: 1)
            for (jarID, name) in [(Int64(1), "default"), (2, "work")] {
                try database.execute(
                    sql: "INSERT INTO jar (id, name, profile, created_at) VALUES (?, ?, ?, ?)",
                    arguments: [jarID, name, profile, Given.now.microseconds])
                for number in 0..<cookies { try insertCookie(number, jarID: jarID, sealer: sealer, database) }
                if version >= 2 {
                    try keepJournal(of: jarID, cookies: cookies, profile: profile, database)
                    try keepSession(of: jarID, database)
                }
                if version >= 6 { try keepHeaderField(of: jarID, sealer, database) }
            }
            let place = TokenRows.place(1, .accessToken)
            try database.execute(
                sql: """
                    INSERT INTO token_profile
                        (id, name, token_type, access_token, received_at, refresh_expires_at, generation, created_at)
                    VALUES (1, 'p', 'Bearer', ?, ?, ?, 1, ?)
                    """,
                arguments: [
                    Data(try sealer.seal(Array("access p".utf8), at: place)), Given.now.microseconds,
                    OldDatabase.refreshTokenExpiry.microseconds, Given.now.microseconds,
                ])
        }
        if version >= 6 {
            try queue.write {
                try $0.execute(
                    sql: "UPDATE token_profile SET grant_expires_at = ?",
                    arguments: [OldDatabase.grantExpiry.microseconds])
            }
        }
        try queue.close()
    }

    /// What V006 brought: a sealed header field.
    private func keepHeaderField(of jarID: Int64, _ sealer: Sealer, _ database: Database) throws {
        let sealed = try sealer.seal(Array("key \(jarID)".utf8), at: HeaderFieldRows.place(jarID, "X-Key", ""))
        try database.execute(
            sql: "INSERT INTO header_field (jar_id, name, value) VALUES (?, 'X-Key', ?)",
            arguments: [jarID, Data(sealed)])
    }

    /// What the migrations that the file has seen are called.
    func migrations() throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations ORDER BY 1") }
    }

    /// What V002 brought: limits, and a journal whose end stands in the jar's row.
    private func keepJournal(of jarID: Int64, cookies: Int, profile: String, _ database: Database) throws {
        // Since V009, an entry's id has the jar's above the position.
        let (columns, place) =
            version < 9 ? ("jar_id, position", "jar_id, sequence") : ("id", "(jar_id << 36) + sequence")
        try database.execute(
            sql: """
                INSERT INTO cookie_change
                    (\(columns), cause, changed_at, site, domain, path, name, host_only, partition_key)
                SELECT \(place), 1, created_at, site, domain, path, name, host_only, partition_key
                FROM cookie WHERE jar_id = ?
                """,
            arguments: [jarID])
        try database.execute(
            sql: "UPDATE jar SET next_sequence = ?, next_change = ?, total_cookies = ? WHERE id = ?",
            arguments: [cookies + 1, cookies + 1, profile == "browser" ? 3300 : nil, jarID])
    }

    /// What V002 brought, too: a capture that the cookies came out of, and a saved session.
    private func keepSession(of jarID: Int64, _ database: Database) throws {
        let columns = """
            site, domain, path, name, host_only, partition_key, value, secure, http_only, same_site, expires_at,
            created_at, sequence, last_access_at, capture_id, source_url, received_at
            """
        // Since V017, a saved cookie names its jar.
        let jar = version < 17 ? "" : "jar_id, "
        try database.execute(
            sql: """
                INSERT INTO capture (jar_id, digest, name, imported_at) VALUES (?1, x'01', 'capture ' || ?1, 1);
                UPDATE cookie SET capture_id = (SELECT id FROM capture WHERE jar_id = ?1) WHERE jar_id = ?1;
                INSERT INTO snapshot (jar_id, name, created_at) VALUES (?1, 'saved', 1);
                INSERT INTO snapshot_cookie (\(jar)snapshot_id, \(columns))
                SELECT \(jar)(SELECT id FROM snapshot WHERE jar_id = ?1), \(columns) FROM cookie WHERE jar_id = ?1;
                """.replacing("?1", with: "\(jarID)"))
    }

    private func insertCookie(_ number: Int, jarID: Int64, sealer: Sealer, _ database: Database) throws {
        guard let host = WebHost(OldDatabase.host) else { return }
        let id = Cookie.ID(
            name: Octets("c\(number)"), domain: host, isHostOnly: true, path: "/", partitionKey: nil)
        let cookie = Cookie(
            id: id, value: [], isSecure: true, isHTTPOnly: number % 2 == 0, sameSite: .lax,
            expiry: number % 3 == 0 ? nil : Given.now.advanced(bySeconds: 1000), creation: Given.now,
            lastAccess: Given.now)
        let sealed = try sealer.seal(Array("\(jarID)-\(number)".utf8), at: cookie.sealedPlace(jarID: jarID))
        try database.execute(
            sql: """
                INSERT INTO cookie (jar_id, site, domain, path, name, host_only, partition_key, value, secure, http_only,
                    same_site, expires_at, created_at, sequence, last_access_at)
                VALUES (?, CAST('example.com' AS BLOB), CAST(? AS BLOB), x'2F', CAST(? AS BLOB), 1, '', ?, 1, ?, ?, ?, ?,
                    ?, ?)
                """,
            arguments: [
                jarID, OldDatabase.host, "c\(number)", Data(sealed), number % 2 == 0,
                Int64(SameSite.lax.rawValue), cookie.expiry?.microseconds, Given.now.microseconds, number + 1,
                Given.now.microseconds,
            ])
    }
}
