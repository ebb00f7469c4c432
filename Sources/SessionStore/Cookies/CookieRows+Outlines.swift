package import CookieModel

/// Cookies as limits look at them: not what a value is, but how long, so that none is read or opened.
extension CookieRows {
    static let outlineQuery = """
        SELECT domain, path, name, host_only, partition_key, length(value), secure, http_only, same_site, expires_at,
            created_at, sequence, last_access_at, CASE WHEN capture_id IS NOT NULL
                AND (SELECT from_requests FROM capture WHERE id = capture_id) THEN coalesce(source_url, '') END,
            received_at FROM cookie WHERE jar_id = ? AND site = ?
        """

    /// The cookies of one registrable domain, each with a value that is as long as its own and says nothing.
    func outlines(site: Octets) throws -> [Cookie] {
        let statement = try RowStatement(.cookieOutlines, prepared, on: database)
        defer { statement.reset() }
        statement.bind(1, jarID)
        statement.bind(2, site)
        var cookies: [Cookie] = []
        while try statement.step() {
            var cookie = Cookie(
                id: statement.identity(0), value: blank(Sealer.openedCount(Int(statement.int64(5)))),
                isSecure: statement.int64(6) != 0, isHTTPOnly: statement.int64(7) != 0,
                sameSite: statement.sameSite(8), expiry: statement.optionalTimestamp(9),
                creation: statement.timestamp(10), lastAccess: statement.timestamp(12),
                sequence: statement.int64(11))
            if !statement.isNull(13) {
                cookie.request = CookieRequest(time: statement.optionalTimestamp(14), url: statement.text(13))
            }
            cookies.append(cookie)
        }
        return cookies
    }

    private func blank(_ count: Int) -> Octets {
        count <= zeros.count ? zeros[0..<count] : Octets(Array(repeating: 0, count: count))
    }
}

extension CookieRequest {
    /// The request as a row tells it.
    package convenience init(time: Timestamp?, url: String?) {
        self.init(time: time ?? .distantPast, path: (url.flatMap { try? RequestURL($0) })?.path ?? "/")
    }
}

/// Shared by the values of all outlines: name and value have 4096 octets at most where they came out of a response.
private let zeros = Octets(Array(repeating: 0, count: 4096))
