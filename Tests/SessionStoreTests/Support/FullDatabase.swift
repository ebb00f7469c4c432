import CookieModel
import OAuth2
import Testing

@testable import SessionStore

/// A database with something in every table that holds sealed values.
enum FullDatabase {
    /// Fills a database: two jars, a saved session and a header field of each, two token sets, an authority.
    static func fill(_ database: SessionDatabase, cookies: Int = 30) throws {
        for name in ["default", "work"] {
            let jar = try database.jar(named: name, now: Given.now)
            for number in 0..<cookies {
                try jar.receive(
                    "c\(number)=\(name) \(number); Path=/\(number % 3); Secure",
                    from: "https://h\(number % 5).example/")
            }
            try jar.receive("p=partitioned \(name); Path=/; Secure; Partitioned; Max-Age=5000")
            try jar.receive("rejected=\(name); Path=/; SameSite=None")
            try saveSession("saved", of: jar)
            try jar.setHeaderField(Secret("key of \(name)"), named: "X-Key", scope: "https://h1.example/")
        }
        for name in ["p", "q"] {
            try database.tokens.put(
                TokenSet(
                    accessToken: Secret("access \(name)"), refreshToken: name == "p" ? Secret("refresh p") : nil,
                    idToken: Secret("id \(name)"), receivedAt: Given.now),
                for: Profile(id: ProfileID(), name: name), now: Given.now)
        }
        try database.addAuthority(try authority())
    }

    /// An authority whose certificate the store does not look into.
    static func authority(_ hosts: [String] = ["shop.example"], key: String = "key of the authority") throws
        -> StoredAuthority
    {
        StoredAuthority(
            hosts: try hosts.map { try #require(WebHost($0)) },
            certificatePEM: "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n", privateKey: Secret(key),
            creation: Given.now, expiry: Given.now.advanced(bySeconds: 1000))
    }

    /// Copies a jar's cookies as they are, which is what saving a session does.
    static func saveSession(_ name: String, of jar: CookieJar) throws {
        let columns = """
            site, domain, path, name, host_only, partition_key, value, secure, http_only, same_site, expires_at,
            created_at, sequence, last_access_at, capture_id, source_url, received_at
            """
        try jar.database.execute(
            "INSERT INTO snapshot (jar_id, name, created_at) VALUES (\(jar.id), '\(name)', 0)")
        try jar.database.execute(
            """
            INSERT INTO snapshot_cookie (jar_id, snapshot_id, \(columns))
            SELECT jar_id, (SELECT id FROM snapshot WHERE jar_id = \(jar.id) AND name = '\(name)'), \(columns) FROM cookie
            WHERE jar_id = \(jar.id)
            """)
    }

    /// Every value that can be read, in order.
    static func values(_ database: SessionDatabase) throws -> [String] {
        try database.read { connection in
            var values: [String] = []
            for table in SealedTable.allCases {
                try table.forEach(connection) { value in
                    guard let opened = database.sealer.open(value.sealed, at: value.place) else { return }
                    values.append("\(value.location): \(opened)")
                }
            }
            return values
        }
    }

    /// How many sealed values there are under the key of that number.
    static func count(_ database: SessionDatabase, under keyID: UInt32) throws -> Int {
        try database.read { connection in
            var count = 0
            for table in SealedTable.allCases {
                try table.forEach(connection) { value in
                    if Sealer.keyID(of: value.sealed) == keyID { count += 1 }
                }
            }
            return count
        }
    }
}
