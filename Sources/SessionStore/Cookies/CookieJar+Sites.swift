public import CookieModel

extension CookieJar {
    /// Goes through all cookies, one registrable domain after the other, so that no more than one domain's are in memory.
    ///
    /// Each domain is read as it is when its turn comes, after every write that was acknowledged before.
    ///
    /// - Parameter body: is given the cookies of one domain in the order of creation, values opened, and then those whose
    ///   value was tampered with, without it. What it throws comes through, and ends the reading.
    public func forEachSite(_ body: (_ readable: [Cookie], _ unreadable: [Cookie]) throws -> Void) throws {
        for site in try sites() {
            let (readable, unreadable) = try cookies(site: site)
            try body(readable, unreadable)
        }
    }

    /// The registrable domains that there are cookies of.
    package func sites() throws(SessionStoreError) -> [Octets] {
        try database.read { try CookieRows(database: $0, jarID: id).sites() }
    }

    /// The hosts that there are cookies of, each with the registrable domain under which storage keeps them. Reads the
    /// whole jar, but no value.
    package func hosts() throws(SessionStoreError) -> [(site: Octets, host: WebHost)] {
        try database.read { try CookieRows(database: $0, jarID: id).hosts() }
    }

    /// The cookies of the registrable domain that `host` belongs to, in the order of creation, values opened, and then
    /// those whose value was tampered with, without it.
    public func cookies(
        ofSiteOf host: WebHost
    ) throws(SessionStoreError) -> (readable: [Cookie], unreadable: [Cookie]) {
        try cookies(site: host.registrableDomain(policy.publicSuffixes))
    }

    /// The cookies of one of ``sites()``, as ``cookies(ofSiteOf:)`` gives them.
    package func cookies(site: Octets) throws(SessionStoreError) -> (readable: [Cookie], unreadable: [Cookie]) {
        let sealed = try database.read { try CookieRows(database: $0, jarID: id).cookies(site: site) }
        return opened(sealed.cookies.sorted { ($0.creation, $0.sequence) < ($1.creation, $1.sequence) })
    }
}
