package import CookieModel

/// What to remove of a jar's cookies and web storage.
package struct SiteDataSelection: Sendable, Hashable {
    /// The registrable domain; `nil` for all.
    package var site: Octets?
    /// Whether to remove cookies.
    package var includesCookies = true
    /// Removes only cookies that last changed at this time or later: those whose response came then, or if that is
    /// unknown, those that were created then. Web storage has no times.
    package var cookiesSince = Timestamp.distantPast
    /// Whether to remove web storage.
    package var includesWebStorage = true

    /// Selects everything.
    package init() {}
}

/// How many cookies of a registrable domain a jar has.
package struct CookieUsage: Sendable, Hashable {
    /// The registrable domain.
    package let site: Octets
    /// How many cookies it has, without expired ones.
    package let cookies: Int
    /// How many octets their names and values have.
    package let octets: Int
    /// When one of them last changed.
    package let lastUpdate: Timestamp
}

/// The data of sites, as a browser lists and removes it.
extension CookieJar {
    /// How many cookies each registrable domain has, without expired ones. Opens no value.
    ///
    /// - Parameter time: Counts only cookies that last changed at that time or later.
    package func cookieUsage(since time: Timestamp = .distantPast, now: Timestamp? = nil) throws(SessionStoreError)
        -> [CookieUsage]
    {
        let now = now ?? database.clock.now
        return try database.read { try CookieRows(database: $0, jarID: id).usage(since: time, now: now) }
    }

    /// Removes cookies and web storage in one transaction.
    ///
    /// For a day, ``SessionDatabase/restoreJar(named:to:now:)`` can undo it, as it undoes
    /// ``SessionDatabase/clearJar(named:now:)``.
    ///
    /// - Returns: how many cookies, expired ones included, and how many items of web storage were removed.
    @discardableResult
    package func removeSiteData(
        _ selection: SiteDataSelection, now: Timestamp? = nil
    ) throws(SessionStoreError) -> (cookies: Int, storageItems: Int) {
        let now = now ?? database.clock.now
        return try database.write(.jar(id)) { connection in
            let undo = JarUndoRows(database: connection, jarID: id)
            try undo.begin(now: now)
            var (cookies, storageItems) = (0, 0)
            if selection.includesCookies {
                cookies = try JournaledCookieRows(database: connection, jarID: id).remove(
                    site: selection.site, since: selection.cookiesSince, now: now)
            }
            if selection.includesWebStorage {
                let storage = WebStorageRows(database: connection, jarID: id)
                for (origin, _) in try storage.origins()
                where selection.site == nil || site(ofOrigin: origin) == selection.site {
                    storageItems += try storage.delete(origin: origin)
                }
            }
            if cookies + storageItems > 0 { try CaptureRows(database: connection, jarID: id).allowAgain() }
            try undo.end(.cleared, hasChanged: cookies + storageItems > 0, now: now)
            return (cookies, storageItems)
        }
    }

    /// The registrable domain of an origin of web storage; `nil` if it is not a URL.
    package func site(ofOrigin origin: String) -> Octets? {
        (try? RequestURL(origin))?.host.registrableDomain(policy.publicSuffixes)
    }
}
