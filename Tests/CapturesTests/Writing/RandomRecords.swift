import CookieModel
import TestSupport

/// Random cookies, from what is usual to what only just may be.
struct RandomRecords {
    private var numbers: SeededGenerator
    private var count = 0

    init(seed: UInt64) {
        numbers = SeededGenerator(seed: seed)
    }

    /// A cookie with a unique name.
    ///
    /// - Parameter isTame: whether every format can hold it, whatever it loses.
    mutating func next(isTame: Bool) -> CookieRecord {
        count += 1
        var record = CookieRecord(
            name: name(isTame: isTame), value: value(isTame: isTame), domain: domain(),
            isHostOnly: !numbers.once(in: 3),
            path: numbers.pick(["/", "/", "/sub", "/x y", "/a/b/", "/\u{E9}"]), isSecure: !numbers.once(in: 3),
            isHTTPOnly: numbers.once(in: 2), sameSite: numbers.pick(SameSite.allCases), expiry: expiry(isTame: isTame))
        // What the cookie rules demand of any cookie.
        if record.domain == "localhost" || WebHost(record.domain)?.isIPAddress == true { record.isHostOnly = true }
        if record.sameSite == .none || record.name.starts(with: "__Secure-".utf8) { record.isSecure = true }
        if !numbers.once(in: 4) { record.creation = Timestamp(microseconds: moment()) }
        if !numbers.once(in: 4) { record.lastAccess = Timestamp(microseconds: moment()) }
        if record.isSecure, numbers.once(in: 4) { record.partitionKey = partition(of: record, isTame: isTame) }
        return record
    }

    private mutating func name(isTame: Bool) -> Octets {
        let unique = "n\(count)"
        if isTame { return Octets(numbers.pick(["", "__Secure-", "é", "#", "$", "a b"]) + unique) }
        switch numbers.below(8) {
        case 0: return []
        case 1: return Octets([0xFF, 0x09, 0xE9] + Array(unique.utf8))
        case 2: return Octets(" \(unique)=;\n")
        default: return Octets(unique)
        }
    }

    private mutating func value(isTame: Bool) -> Octets {
        let tame: [Octets] = ["v", "", "a=b==", "\"a b,c\"", "\\\"", "é€𝄞", "{}[]:'&<>/", "%3B", "#", "-1"]
        guard !isTame, numbers.once(in: 2) else { return numbers.pick(tame) }
        return Octets((0..<numbers.below(20)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) })
    }

    private mutating func domain() -> String {
        numbers.pick(["a.test", "www.a.test", "localhost", "127.0.0.1", "[::1]", "xn--bcher-kva.test", "b.example"])
    }

    /// Between 1973 and 2033.
    private mutating func moment() -> Int64 {
        Int64(100_000_000 + numbers.below(1_900_000_000)) * 1_000_000 + Int64(numbers.below(1_000_000))
    }

    private mutating func expiry(isTame: Bool) -> Timestamp? {
        switch numbers.below(isTame ? 6 : 8) {
        case 0, 1: nil
        case 2: Timestamp(seconds: moment() / 1_000_000)
        case 6: numbers.pick([.distantPast, .distantFuture, Timestamp(seconds: 0), Timestamp(seconds: -1)])
        // No further from 1970 than a floating-point number tells microseconds apart.
        case 7: Timestamp(microseconds: Int64(truncatingIfNeeded: numbers.next()) >> 11)
        default: Timestamp(microseconds: moment())
        }
    }

    private mutating func partition(of record: CookieRecord, isTame: Bool) -> PartitionKey {
        let site = record.domain.hasSuffix(".a.test") ? "a.test" : record.domain
        guard !isTame, numbers.once(in: 2) else {
            return PartitionKey(topLevelSite: "https://\(site)", hasCrossSiteAncestor: false)
        }
        return PartitionKey(topLevelSite: "https://other.test", hasCrossSiteAncestor: numbers.once(in: 2))
    }
}
