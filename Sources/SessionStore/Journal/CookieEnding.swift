package import CookieModel

/// The end of a cookie: a response deleted it, or its lifetime ended.
package struct CookieEnding: Sendable, Hashable {
    /// The identity of the cookie.
    package let cookie: Cookie.ID
    /// Whether its lifetime ended; `false` if a response deleted it.
    package let isExpiry: Bool
    /// When the response came, or when the lifetime ended.
    package let time: Timestamp

    package init(_ cookie: Cookie.ID, isExpiry: Bool, time: Timestamp) {
        (self.cookie, self.isExpiry, self.time) = (cookie, isExpiry, time)
    }

    /// The end of an expired cookie, according to its response. If the lifetime continued after the response, it has
    /// ended since. Otherwise the response deleted the cookie.
    package init(_ cookie: Cookie, answered: Timestamp) {
        let expiry = cookie.expiry.flatMap { $0 > answered ? $0 : nil }
        self.init(cookie.id, isExpiry: expiry != nil, time: expiry ?? answered)
    }
}

extension CookieJar {
    /// The cookies of a registrable domain that ended, as far as the journal reaches.
    package func endings(of site: Octets, now: Timestamp) throws(SessionStoreError) -> [CookieEnding] {
        try database.read { try ChangeRows(database: $0, jarID: id).endings(of: site, now: now) }
    }
}

extension CookieBatch {
    /// The cookies of a registrable domain that ended before the batch. Call it before the batch receives any cookie of
    /// that site.
    package mutating func endings(of site: Octets) throws(SessionStoreError) -> [CookieEnding] {
        let rows = try writtenRows()
        return try SessionStoreError.catching(path) {
            try ChangeRows(database: rows.database, jarID: rows.jarID).endings(of: site, now: now)
        }
    }
}

extension ChangeRows {
    /// An index of endings finds the journal's entries. Expired cookies whose rows still wait until the clock is
    /// confirmed count, too.
    static let endingQuery = """
        SELECT CASE cause WHEN 4 THEN 1 ELSE 0 END, ended_at, domain, path, name, host_only, partition_key FROM cookie_change
        WHERE site = ?1 AND id BETWEEN ?2 AND ?3 AND ended_at IS NOT NULL
        UNION ALL
        SELECT 1, expires_at, domain, path, name, host_only, partition_key FROM cookie
        WHERE jar_id = ?4 AND site = ?1 AND expires_at < ?5
        """

    fileprivate func endings(of site: Octets, now: Timestamp) throws -> [CookieEnding] {
        try database.statement(ChangeRows.endingQuery).rows(
            site, ChangeRows.id(0, ofJar: jarID), ChangeRows.id(.max, ofJar: jarID), jarID, now
        ) { row in
            CookieEnding(
                row.identity(2), isExpiry: row.int64(0) != 0, time: row.timestamp(1))
        }
    }

    /// Begins this journal with the endings of another jar's.
    ///
    /// - Parameter captures: the IDs of this jar's captures by those of the other.
    func takeEndings(of otherID: Int64, captures: [Int64: Int64], now: Timestamp) throws {
        var writer = ChangeWriter(self, now: now)
        try database.statement(
            """
            SELECT site, domain, path, name, host_only, partition_key, cause, ended_at, capture_id, source_url
            FROM cookie_change WHERE id BETWEEN ? AND ? AND ended_at IS NOT NULL ORDER BY id
            """
        ).forEach(ChangeRows.id(0, ofJar: otherID), ChangeRows.id(.max, ofJar: otherID)) { row in
            guard let cause = CookieChange.Cause(rawValue: row.int64(6)) else { return }
            let ended = row.timestamp(7)
            writer.append(
                cause, row.identity(1), site: Octets(row.bytes(0)),
                source: StoredCookie.Source(
                    captureID: row.isNull(8) ? nil : captures[row.int64(8)],
                    url: row.isNull(9) ? nil : Octets(row.bytes(9)), received: ended),
                ended: ended)
        }
        var end = try end()
        try writer.finish(&end)
    }
}
