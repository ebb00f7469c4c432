package import PublicSuffix
package import WebPrimitives

/// The protective attributes that the cookies of one file state for each other.
///
/// Cookies are twins if they have the same name, host and path, or the same name, site and value; values that are too
/// short to be a secret, such as `1` or `light`, do not count. Twins of twins are twins, too. A cookie that leaves a
/// flag open gets the most protective one that a twin states, so that the order of a file's lines does not matter. The
/// cookies that the receiving store had before the file count as well. Only a cookie that the store already has with
/// the same value, readable by scripts, is not changed.
///
/// Cookies are identified by hashes, about 100 bytes for each. The time is O(*n* log *n*) in their number.
package struct CookieTwins: Sendable {
    /// Cookies that are known to be twins.
    private struct Group {
        var protection = CookieProtection()
        var size = 1
        /// Whether one of them was stored with open flags.
        var hasOpenCookies = false
    }

    /// How many octets a value has at least that tells one session from another.
    private static let shortestSecret = 6

    private let publicSuffixes: PublicSuffixList
    /// The node of each key, the parent of each node, and the groups of the nodes that are their own parents.
    private var nodes: [Int: Int] = [:]
    private var parents: [Int] = []
    private var groups: [Group] = []
    private var knownSites: Set<Octets> = []
    /// The cookies that the store had before and that scripts may read, with their values.
    private var readable: Set<Int> = []
    /// The IDs of the cookies that were stored with open flags, and which flags these are.
    private var open: [Int: CookieProperties] = [:]
    /// The sites that have cookies which were stored with less protection than their twins state by now.
    package private(set) var weakSites: Set<Octets> = []
    /// How many steps the searches for groups took.
    private(set) var stepCount = 0

    /// No cookies.
    package init(publicSuffixes: PublicSuffixList) {
        self.publicSuffixes = publicSuffixes
    }

    /// Records the attributes that the next cookies of a file state.
    ///
    /// - Parameter stored: returns the store's cookies of a site, with their values. It is called once for each site,
    ///   before any cookie of the file for the site is stored.
    package mutating func note<Failure: Error>(
        _ records: some Sequence<CookieRecord>, stored: (_ site: Octets) throws(Failure) -> [Cookie]
    ) throws(Failure) {
        for record in records {
            let (host, site) = place(of: record)
            if knownSites.insert(site).inserted {
                for cookie in try stored(site) { note(cookie, of: site) }
            }
            join(record, host: host, of: site)
        }
    }

    /// The record, completed with the attributes that its twins state.
    package func completed(_ record: CookieRecord) -> CookieRecord {
        guard leavesOpen(record) else { return record }
        var record = record
        record.twins = protection(name: record.name, host: place(of: record).host, path: record.path)
        return record
    }

    /// Notes that a record was stored.
    package mutating func noteStored(_ record: CookieRecord, as id: Cookie.ID) {
        let key = CookieTwins.key(id)
        guard record.leavesProtectionOpen else {
            open[key] = nil
            return
        }
        guard leavesOpen(record) else { return }
        open[key] = record.unstated.intersection(record.sameSite == .default ? .protection : [.secure, .httpOnly])
        let node = node(CookieTwins.key(name: record.name, host: place(of: record).host, path: record.path))
        groups[root(of: node)].hasOpenCookies = true
    }

    /// The cookies that were stored with less protection than their twins state by now, to be received again, each with
    /// the flags that it had not got.
    ///
    /// - Parameter stored: the cookies of one of ``weakSites``, with their values.
    package func mended(_ stored: [Cookie]) -> [(record: CookieRecord, kept: CookieProperties)] {
        stored.compactMap { cookie in
            guard let properties = open[CookieTwins.key(cookie.id)] else { return nil }
            let before = CookieRecord(cookie)
            var record = before
            record.unstated = properties
            record.twins = protection(name: cookie.name, host: cookie.domain.octets, path: cookie.path)
            if properties.contains(.sameSite) { record.sameSite = .default }
            var kept = record.complete(from: cookie)
            guard record.protection != before.protection else { return nil }
            record.unstated = []
            if before.sameSite != .default { kept.remove(.sameSite) }
            return (record, kept)
        }
    }

    // MARK: - Groups

    private mutating func note(_ cookie: Cookie, of site: Octets) {
        let record = CookieRecord(cookie)
        if !cookie.isHTTPOnly { readable.insert(key(withValue: record)) }
        let isElsewhere = cookie.id.partitionKey.map { !$0.isOwnSite(of: cookie.domain) } ?? false
        join(record, host: isElsewhere ? nil : cookie.domain.octets, of: site)
    }

    /// Makes one group of the cookies with the same identity and those with the same value.
    ///
    /// - Parameter host: the cookie's host; `nil` if its identity does not count.
    private mutating func join(_ record: CookieRecord, host: Octets?, of site: Octets) {
        var found: [Int] = []
        if let host {
            found.append(root(of: node(CookieTwins.key(name: record.name, host: host, path: record.path))))
        }
        if record.value.count >= CookieTwins.shortestSecret {
            found.append(root(of: node(CookieTwins.key(name: record.name, site: site, value: record.value))))
        }
        guard var root = found.first else { return }
        if let other = found.last, other != root {
            let (large, small) = groups[root].size < groups[other].size ? (other, root) : (root, other)
            parents[small] = large
            groups[large].size += groups[small].size
            raise(small, groups[large].protection, of: site)
            raise(large, groups[small].protection, of: site)
            groups[large].hasOpenCookies = groups[large].hasOpenCookies || groups[small].hasOpenCookies
            root = large
        }
        raise(root, record.protection, of: site)
    }

    private mutating func raise(_ root: Int, _ protection: CookieProtection, of site: Octets) {
        let before = groups[root].protection
        groups[root].protection.formUnion(protection)
        if groups[root].hasOpenCookies, groups[root].protection != before { weakSites.insert(site) }
    }

    private mutating func node(_ key: Int) -> Int {
        if let node = nodes[key] { return node }
        nodes[key] = parents.count
        parents.append(parents.count)
        groups.append(Group())
        return parents.count - 1
    }

    private mutating func root(of node: Int) -> Int {
        var node = node
        while parents[node] != node {
            stepCount += 1
            parents[node] = parents[parents[node]]
            node = parents[node]
        }
        return node
    }

    private func protection(name: Octets, host: Octets, path: Octets) -> CookieProtection {
        guard var node = nodes[CookieTwins.key(name: name, host: host, path: path)] else { return CookieProtection() }
        while parents[node] != node { node = parents[node] }
        return groups[node].protection
    }

    // MARK: - Keys

    private func leavesOpen(_ record: CookieRecord) -> Bool {
        record.leavesProtectionOpen && !readable.contains(key(withValue: record))
    }

    private func place(of record: CookieRecord) -> (host: Octets, site: Octets) {
        guard let host = WebHost(record.domain) else { return (Octets(record.domain), Octets(record.domain)) }
        return (host.octets, host.registrableDomain(publicSuffixes))
    }

    /// Of a cookie with its value. Its partition is left out, which few formats state.
    private func key(withValue record: CookieRecord) -> Int {
        var hasher = Hasher()
        hasher.combine(record.name)
        hasher.combine(place(of: record).host)
        hasher.combine(record.isHostOnly)
        hasher.combine(record.path)
        hasher.combine(record.value)
        return hasher.finalize()
    }

    private static func key(_ id: Cookie.ID) -> Int {
        var hasher = Hasher()
        hasher.combine(id)
        return hasher.finalize()
    }

    private static func key(name: Octets, host: Octets, path: Octets) -> Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(host)
        hasher.combine(path)
        return hasher.finalize()
    }

    private static func key(name: Octets, site: Octets, value: Octets) -> Int {
        var hasher = Hasher()
        // Apart from those of hosts and paths.
        hasher.combine(1)
        hasher.combine(name)
        hasher.combine(site)
        hasher.combine(value)
        return hasher.finalize()
    }
}
