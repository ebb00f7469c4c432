import CookieModel

/// What Firefox keeps cookies apart by, as its database writes it: `^userContextId=2&partitionKey=%28https%2Ca.test%29`.
struct FirefoxOriginAttributes {
    /// The container; 0 for none.
    private(set) var container = 0
    /// Whether they belong to a private window or to first-party isolation, which nothing outside of it has.
    private(set) var isIsolated = false
    private var partition: (site: String, domain: String, hasForeignAncestor: Bool)?

    /// Parses the text; `nil` where it is none that Firefox writes.
    init?(_ text: String) {
        guard !text.isEmpty else { return }
        guard text.first == "^" else { return nil }
        for member in text.dropFirst().split(separator: "&") {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = FirefoxOriginAttributes.decoded(parts[1]) else { return nil }
            switch parts[0] {
            case "userContextId":
                guard let number = Int(value) else { return nil }
                container = number
            case "privateBrowsingId": isIsolated = isIsolated || value != "0"
            case "firstPartyDomain": isIsolated = isIsolated || !value.isEmpty
            case "partitionKey":
                guard setPartition(value) else { return nil }
            default: break
            }
        }
    }

    /// `(https,example.com)`, with a port and an `f` for a foreign ancestor where there are such.
    private mutating func setPartition(_ text: String) -> Bool {
        if text.isEmpty { return true }
        guard text.first == "(", text.last == ")" else { return false }
        let parts = text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count >= 2, ["http", "https"].contains(parts[0]), !parts[1].isEmpty else { return false }
        partition = ("\(parts[0])://\(parts[1])", String(parts[1]), parts.dropFirst(2).contains("f"))
        return true
    }

    /// The partition of a cookie of that domain. Firefox's `f` tells of a page that is embedded in itself through
    /// another site; that a cookie of another site than the page's has a cross-site ancestor goes without saying there.
    func partitionKey(ofCookieFor domain: String) -> PartitionKey? {
        guard let partition else { return nil }
        let isOwn = domain == partition.domain || domain.hasSuffix(".\(partition.domain)")
        return PartitionKey(
            topLevelSite: partition.site, hasCrossSiteAncestor: partition.hasForeignAncestor || !isOwn)
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentEncoding.decodeStrictly(Array(text.utf8).span).map { String(decoding: $0, as: UTF8.self) }
    }
}
