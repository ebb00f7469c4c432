import CookieModel
import PublicSuffix

/// The sites of a jar that someone may have meant instead of one that the jar knows nothing of.
struct SimilarSites {
    /// How many are worth telling.
    private static let limit = 5
    /// How short a name may be for another one with a different letter to count as similar.
    private static let shortest = 5

    /// The sites, by name.
    let names: [String]

    /// Looks among the sites of `hosts` for those similar to that of `host`: of the same name under another suffix
    /// (`example.org` for `example.com`), with a letter or two that differ, or this machine under another name.
    init(of host: WebHost, _ list: PublicSuffixList, among hosts: [WebHost]) {
        let site = host.registrableDomain(list)
        var sites: [Octets: WebHost] = [:]
        for host in hosts { sites[host.registrableDomain(list)] = host }
        let similar = sites.filter { other, domain in
            other != site
                && (host.isLoopback && domain.isLoopback
                    || !host.isIPAddress && !domain.isIPAddress && SimilarSites.areSimilar(site, other))
        }
        names = Array(similar.keys.sorted().prefix(SimilarSites.limit).map(\.description))
    }

    private static func areSimilar(_ one: Octets, _ other: Octets) -> Bool {
        let dot = UInt8(ascii: ".")
        let label = one.prefix { $0 != dot }
        let otherLabel = other.prefix { $0 != dot }
        if label.count > 1, label.elementsEqual(otherLabel) { return true }
        guard min(label.count, otherLabel.count) >= shortest else { return false }
        return distance(Array(one), Array(other), atMost: 2) <= 2
    }

    /// How many octets to put in, take out or change until one name is the other; any number above `limit` if there are more.
    private static func distance(_ one: [UInt8], _ other: [UInt8], atMost limit: Int) -> Int {
        guard abs(one.count - other.count) <= limit else { return limit + 1 }
        var row = Array(0...other.count)
        for (line, octet) in one.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in other.indices {
                let changed = diagonal + (octet == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, min(row[column], diagonal) + 1)
            }
        }
        return row[other.count]
    }
}
