package import PublicSuffix
package import WebPrimitives

/// The protective attributes that the cookies of one file state for each other.
///
/// Cookies are twins if they have the same name, host and path, or the same name, site and value; values that are too
/// short to be a secret, such as `1` or `light`, do not count. Twins of twins are twins, too. A cookie that leaves a
/// flag open gets the most protective one that a twin states, so that the order of a file's lines does not matter. The
/// cookies that the receiving store had before the file count as well. Only a cookie that the store already has with
/// the same value, readable by scripts, is not changed.
package struct CookieTwins: Sendable {
    /// An identity or a value; its root stands for all that belong to twins.
    private struct Node {
        var parent: Int
        /// Of a root: how many nodes it stands for, and what their cookies state.
        var size = 1
        var protection = CookieProtection()
    }

    private let publicSuffixes: PublicSuffixList
    private var nodes: [Node] = []
    /// The indices of the nodes, by the hash of the identity or value.
    private var indices: [Int: Int] = [:]
    private var knownSites: Set<Octets> = []
    /// The cookies that the store had before and that scripts may read, with their values.
    private var readable: Set<Int> = []
    /// The cookies that were stored with open flags, by ID: which flags these are, and what their twins stated.
    private var open: [Int: (flags: CookieProperties, site: Octets, key: Int, protection: CookieProtection)] = [:]
    /// How many steps the searches for roots took.
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
            for cookie in knownSites.insert(site).inserted ? try stored(site) : [] {
                let record = CookieRecord(cookie)
                if !cookie.isHTTPOnly { readable.insert(line(record)) }
                // In the partition of another site, only the value counts.
                let isElsewhere = cookie.id.partitionKey.map { !$0.isOwnSite(of: cookie.domain) } ?? false
                join(record, isElsewhere ? [] : [identity(record.name, cookie.domain.octets, record.path)], of: site)
            }
            join(record, [identity(record.name, host, record.path)], of: site)
        }
    }

    /// The record, completed with the attributes that its twins state.
    package func completed(_ record: CookieRecord) -> CookieRecord {
        guard leavesOpen(record) else { return record }
        var record = record
        record.twins = protection(of: identity(record.name, place(of: record).host, record.path))
        return record
    }

    /// Notes that a record was stored.
    package mutating func noteStored(_ record: CookieRecord, as id: Cookie.ID) {
        guard record.leavesProtectionOpen else { return open[id.hashValue] = nil }
        guard leavesOpen(record) else { return }
        let flags = record.unstated.intersection(record.sameSite == .default ? .protection : [.secure, .httpOnly])
        let (host, site) = place(of: record)
        let key = identity(record.name, host, record.path)
        open[id.hashValue] = (flags, site, key, protection(of: key))
    }

    /// The sites that have cookies which were stored with less protection than their twins state by now.
    package var weakSites: Set<Octets> {
        Set(open.values.filter { protection(of: $0.key) != $0.protection }.map(\.site))
    }

    /// The cookies that were stored with less protection than their twins state by now, to be received again, each with
    /// the flags that it had not got.
    ///
    /// - Parameter stored: the cookies of one of ``weakSites``, with their values.
    package func mended(_ stored: [Cookie]) -> [(record: CookieRecord, kept: CookieProperties)] {
        stored.compactMap { cookie in
            guard let flags = open[cookie.id.hashValue]?.flags else { return nil }
            let before = CookieRecord(cookie)
            var record = before
            record.unstated = flags
            record.twins = protection(of: identity(cookie.name, cookie.domain.octets, cookie.path))
            if flags.contains(.sameSite) { record.sameSite = .default }
            var kept = record.complete(from: cookie)
            guard record.protection != before.protection else { return nil }
            record.unstated = []
            if before.sameSite != .default { kept.remove(.sameSite) }
            return (record, kept)
        }
    }

    /// Gives the cookies with the same identity and those with the same value one root.
    private mutating func join(_ record: CookieRecord, _ identities: [Int], of site: Octets) {
        // A shorter value does not tell one session from another.
        let values = record.value.count >= 6 ? [[[], record.name, site, record.value].hashValue] : []
        let roots = (identities + values).map { key in
            let index = indices[key] ?? nodes.count
            if index == nodes.count {
                indices[key] = index
                nodes.append(Node(parent: index))
            }
            let root = root(of: index)
            stepCount += root.depth
            return root.index
        }
        guard var large = roots.first, var small = roots.last else { return }
        if nodes[large].size < nodes[small].size { swap(&large, &small) }
        if large != small {
            nodes[small].parent = large
            nodes[large].size += nodes[small].size
            nodes[large].protection.formUnion(nodes[small].protection)
        }
        nodes[large].protection.formUnion(record.protection)
    }

    /// The depth grows with the logarithm of the size, since the smaller tree always comes below the larger one.
    private func root(of index: Int) -> (index: Int, depth: Int) {
        var (index, depth) = (index, 0)
        while nodes[index].parent != index {
            index = nodes[index].parent
            depth += 1
        }
        return (index, depth)
    }

    private func protection(of key: Int) -> CookieProtection {
        indices[key].map { nodes[root(of: $0).index].protection } ?? CookieProtection()
    }

    private func leavesOpen(_ record: CookieRecord) -> Bool {
        record.leavesProtectionOpen && !readable.contains(line(record))
    }

    private func place(of record: CookieRecord) -> (host: Octets, site: Octets) {
        guard let host = WebHost(record.domain) else { return (Octets(record.domain), Octets(record.domain)) }
        return (host.octets, host.registrableDomain(publicSuffixes))
    }

    private func identity(_ name: Octets, _ host: Octets, _ path: Octets) -> Int { [name, host, path].hashValue }

    /// Of a cookie with its value. Its partition is left out, which few formats state.
    private func line(_ record: CookieRecord) -> Int {
        [record.name, place(of: record).host, record.isHostOnly ? [1] : [], record.path, record.value].hashValue
    }
}
