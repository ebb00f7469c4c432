import WebPrimitives

/// The sites of a store, found by their registrable domains.
///
/// The sites lie next to each other, in no order; a hash table with linear probing tells which is whose.
struct SiteTable: Sendable {
    /// A registrable domain and its cookies.
    struct Site: Sendable {
        /// The registrable domain.
        let domain: Octets
        /// Its cookies.
        var cookies: SiteCookies
    }

    /// A place in the hash table.
    private struct Slot: BitwiseCopyable, Sendable {
        static let free = Slot(number: 0, hash: 0)

        /// The index of the site plus one; 0 for a free slot.
        var number: UInt32
        /// The upper half of its domain's hash: the lower half says where the search begins.
        let hash: UInt32
    }

    /// All sites.
    private(set) var sites: [Site] = []
    /// A power of two of them, of which at least a quarter is free; none before the first site.
    private var slots: [Slot] = []
    private let hasher = SiteTable.hasher

    /// Another one in every process, so that no server can choose domains that collide.
    private static let hasher: OctetsHasher = {
        var generator = SystemRandomNumberGenerator()
        return OctetsHasher(using: &generator)
    }()

    /// The cookies of the site at `index`, for a change in place.
    subscript(index: Int) -> SiteCookies {
        _read { yield sites[index].cookies }
        _modify { yield &sites[index].cookies }
    }

    /// The cookies of a domain; `nil` if it has none.
    subscript(domain: Octets) -> SiteCookies? {
        index(of: domain).map { sites[$0].cookies }
    }

    /// The index of a domain's site, valid until the next removal.
    func index(of domain: borrowing Octets) -> Int? {
        let hash = hash(of: domain)
        return slots.isEmpty ? nil : slot(of: domain, hash).map { Int(slots[$0].number) - 1 }
    }

    /// Adds a site that is not in the table yet.
    ///
    /// - Returns: the index of the site.
    mutating func insert(_ cookies: SiteCookies, for domain: Octets) -> Int {
        if (sites.count + 1) * 4 > slots.count * 3 { rebuild(slotCount: max(slots.count * 2, 8)) }
        sites.append(Site(domain: domain, cookies: cookies))
        place(sites.count - 1)
        return sites.count - 1
    }

    /// Removes the sites for which `isGone` holds.
    mutating func removeAll(where isGone: (borrowing Site) -> Bool) {
        let count = sites.count
        sites.removeAll { isGone($0) }
        if sites.count < count { rebuild(slotCount: slots.count) }
    }

    private func hash(of domain: borrowing Octets) -> UInt64 {
        var hasher = hasher
        hasher.combine(domain)
        return hasher.value
    }

    /// The slot that holds a domain.
    @inline(__always)
    private func slot(of domain: borrowing Octets, _ hash: UInt64) -> Int? {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].number != 0 {
            if slots[index].hash == UInt32(hash >> 32), sites[Int(slots[index].number) - 1].domain == domain {
                return index
            }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Takes the first free slot for a site.
    private mutating func place(_ number: Int) {
        let hash = hash(of: sites[number].domain)
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].number != 0 { index = (index + 1) & mask }
        slots[index] = Slot(number: UInt32(number + 1), hash: UInt32(hash >> 32))
    }

    private mutating func rebuild(slotCount: Int) {
        slots = Array(repeating: .free, count: slotCount)
        for number in sites.indices { place(number) }
    }
}
