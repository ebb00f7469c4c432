package import CookieModel

extension CookieJar {
    /// The origin of the present value of each cookie in the jar. Reads the whole jar.
    package func origins() throws(SessionStoreError) -> [Cookie.ID: CookieOrigin] {
        try origins(site: nil)
    }

    /// The same for the cookies of one registrable domain; `nil` for all.
    package func origins(site: Octets?) throws(SessionStoreError) -> [Cookie.ID: CookieOrigin] {
        try database.read { connection in
            var origins: [Cookie.ID: CookieOrigin] = [:]
            try connection.statement(
                """
                SELECT domain, path, cookie.name, host_only, partition_key, capture.name, source_url, received_at,
                    from_requests
                FROM cookie LEFT JOIN capture ON capture.jar_id = ?1 AND capture.id = capture_id
                WHERE cookie.jar_id = ?1
                """ + (site == nil ? "" : " AND site = ?2")
            ).forEach(id, site) { origins[$0.identity(0)] = $0.origin(5) }
            return origins
        }
    }

    /// The origin of a cookie's present value; `nil` if the cookie does not exist.
    package func origin(of cookie: Cookie.ID) throws(SessionStoreError) -> CookieOrigin? {
        let site = cookie.domain.registrableDomain(policy.publicSuffixes)
        return try database.read { connection in
            return try connection.statement(
                """
                SELECT capture.name, source_url, received_at, from_requests
                FROM cookie LEFT JOIN capture ON capture.jar_id = ?1 AND capture.id = capture_id
                WHERE cookie.jar_id = ?1 AND site = ?2 AND domain = ?3 AND path = ?4 AND cookie.name = ?5
                    AND host_only = ?6 AND partition_key = ?7
                """
            ).first(id, site, cookie) { $0.origin(0) }
        }
    }
}

extension Statement {
    /// An origin in four columns: the capture's name, the URL, the time, and whether the capture is of requests.
    fileprivate func origin(_ column: Int32) -> CookieOrigin {
        CookieOrigin(
            capture: isNull(column) ? nil : text(column), url: isNull(column + 1) ? nil : text(column + 1),
            received: optionalTimestamp(column + 2),
            isRequest: !isNull(column + 3) && int64(column + 3) != 0)
    }
}

/// The origin of a cookie's present value.
package struct CookieOrigin: Sendable, Hashable {
    /// The capture it was imported from; `nil` for a live response, and for a cookie from before origins were recorded.
    package let capture: String?
    /// The URL of the response, without its query, which may contain secrets; `nil` for a record from another program's
    /// store.
    package let url: String?
    /// When the response came, or the record was imported; `nil` for a cookie from before origins were recorded.
    package let received: Timestamp?
    /// Whether a request of the capture sent the cookie and no response of it set it, so that its flags were assumed.
    package let isRequest: Bool

    init(capture: String?, url: String?, received: Timestamp?, isRequest: Bool = false) {
        self.capture = capture
        self.url = url
        self.received = received
        self.isRequest = isRequest
    }
}
