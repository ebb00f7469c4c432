import WebPrimitives

/// "Remove excess cookies" (section 5.7 of the draft) within one registrable domain.
///
/// Departure: the draft counts the cookies that share a domain field; here, as in browsers, all of a registrable domain
/// count together, so that no server gets more room by making up subdomains. Cookies of a partition count apart
/// (CHIPS).
extension SiteCookies {
    /// Whether the insertion of `record` may have passed a limit.
    ///
    /// Cookies that requests told have a limit of their own, so that looking through them stays short.
    @inline(__always)
    func isOver(_ limits: CookieLimits, _ record: CookieRecordHeader) -> Bool {
        if record.isPartitioned || requestCount > SiteCookies.requestLimit { return true }
        guard let limit = limits.domainCookies else { return false }
        return count - partitionedCount > limit
    }

    /// Removes the cookies over the limits of `key`'s partition, or of the unpartitioned ones if it is `nil`.
    ///
    /// - Returns: the cookies removed, in the draft's order.
    package mutating func removeExcess(_ key: PartitionKey?, _ limits: CookieLimits) -> [Eviction] {
        guard let key else {
            let excess = max(
                limits.domainCookies.map { count - partitionedCount - $0 } ?? 0, requestCount - SiteCookies.requestLimit
            )
            return excess > 0 ? removeFirst(excess, of: evictionOrder(nil), .domainLimit) : []
        }
        var evicted: [Eviction] = []
        let order = evictionOrder(key)
        if let limit = limits.partitionCookies, order.count > limit {
            evicted = removeFirst(order.count - limit, of: order, .partitionLimit)
        }
        guard let limit = limits.partitionOctets else { return evicted }
        let left = evictionOrder(key)
        var octets = left.reduce(0) { $0 + $1.octetCount }
        let excess = left.prefix { entry in
            defer { octets -= entry.octetCount }
            return octets > limit
        }
        if !excess.isEmpty { evicted += removeFirst(excess.count, of: left, .partitionOctetLimit) }
        return evicted
    }

    /// The cookies of one partition, the first to go first: those that only requests told, then those without Secure, the
    /// least recently used, the oldest. Expired ones are out already.
    private func evictionOrder(_ key: PartitionKey?) -> [EvictionRank] {
        let serialized = key?.serialized ?? ""
        var order: [EvictionRank] = []
        order.reserveCapacity(count)
        forEach { cookie, index in
            if cookie.partitionOctets.elementsEqual(serialized.utf8) {
                order.append(EvictionRank(cookie.header, at: index))
            }
        }
        return order.sorted()
    }

    private mutating func removeFirst(_ excess: Int, of order: [EvictionRank], _ reason: EvictionReason) -> [Eviction] {
        let indices = order.prefix(excess).map(\.index)
        let evicted = indices.map { Eviction(cookie: cookie(at: $0), reason: reason) }
        for index in indices.sorted(by: >) { remove(at: index) }
        return evicted
    }
}

/// A cookie's place in the order of eviction within a domain.
///
/// Cookies that only requests told are not in the draft.
struct EvictionRank: Comparable {
    private let isSet: Bool
    private let isSecure: Bool
    private let usage: UsageRank
    /// The octets of name and value.
    let octetCount: Int
    /// The index of the entry.
    let index: Int

    init(_ header: CookieRecordHeader, at index: Int) {
        isSet = !header.isOfRequest
        isSecure = header.attributes[.secure]
        usage = UsageRank(header)
        octetCount = header.namePlace.count + header.valuePlace.count
        self.index = index
    }

    static func < (left: EvictionRank, right: EvictionRank) -> Bool {
        // Priority 1: Expired cookies. They are out already.
        // Departure: next, cookies that only requests told.
        if left.isSet != right.isSet { return right.isSet }
        // Priority 2: Cookies without Secure in a domain that has too many.
        // Priority 3: The other cookies in such a domain.
        if left.isSecure != right.isSecure { return right.isSecure }
        // Of the same priority, the cookie with the earliest last-access-time goes first.
        return left.usage < right.usage
    }
}

/// A cookie's place in the order of use: those that only requests told first, then the least recently used, and of those
/// used at the same moment the oldest.
struct UsageRank: Comparable {
    private let isSet: Bool
    private let lastAccess: Timestamp
    private let creation: Timestamp
    private let sequence: Int64

    init(_ header: CookieRecordHeader) {
        isSet = !header.isOfRequest
        lastAccess = header.lastAccess
        creation = header.creation
        sequence = header.sequence
    }

    static func < (left: UsageRank, right: UsageRank) -> Bool {
        if left.isSet != right.isSet { return right.isSet }
        if left.lastAccess != right.lastAccess { return left.lastAccess < right.lastAccess }
        if left.creation != right.creation { return left.creation < right.creation }
        return left.sequence < right.sequence
    }
}
