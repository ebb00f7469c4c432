/// A jar of a given size, as the lines that fill it, and requests to the sites in it.
///
/// Ten to thirty cookies for each registrable domain, of one to five hosts below it; every line is accepted, and no two
/// set the same cookie.
struct JarWorkload {
    /// The lines: URL and field value.
    private(set) var lines: [(url: String, fieldValue: String)] = []
    private var sites: [[String]] = []

    init(size: Int) {
        var random = RandomSource(seed: 1_000_000_007 &+ UInt64(size))
        lines.reserveCapacity(size)
        while lines.count < size {
            let hosts = Vocabulary.hosts(of: Vocabulary.registrableDomain(sites.count, &random), &random)
            sites.append(hosts)
            let count = min(size - lines.count, random.number(10..<31))
            for name in random.sample(count, of: Vocabulary.cookieNames) {
                lines.append(Self.line(name, hosts, &random))
            }
        }
    }

    private static func line(
        _ name: String, _ hosts: [String], _ random: inout RandomSource
    ) -> (url: String, fieldValue: String) {
        let host = random.pick(hosts)
        let folder = random.chance(25) ? random.pick(Vocabulary.folders) : nil
        var parts = ["\(name)=\(Vocabulary.value(&random))"]
        switch random.number(0..<100) {
        case ..<50: parts.append("Domain=\(random.chance(50) ? "." : "")\(hosts[0])")
        case ..<60: parts.append("Domain=\(host)")
        default: break
        }
        parts.append("Path=\(folder ?? "/")")
        if random.chance(80) {
            parts.append(
                random.chance(70)
                    ? "Expires=" + Vocabulary.date(&random, mixed: false)
                    : "Max-Age=\(random.pick([2_592_000, 7_776_000, 31_536_000]))")
        }
        let isSecure = random.chance(50)
        if isSecure { parts.append("Secure") }
        if random.chance(30) { parts.append("HttpOnly") }
        if random.chance(40) {
            parts.append("SameSite=" + (isSecure ? random.pick(["Lax", "Strict", "None"]) : "Lax"))
        }
        let scheme = isSecure || random.chance(85) ? "https" : "http"
        return ("\(scheme)://\(host)\(folder ?? random.pick(Vocabulary.pages))", parts.joined(separator: "; "))
    }

    /// Request URLs: nine of ten to the jar's sites, a few of them often and most of them seldom (Zipf's law with
    /// exponent 1), the others to sites it does not know.
    func urls(_ count: Int) -> [String] {
        var random = RandomSource(seed: 2_000_000_011 &+ UInt64(lines.count))
        let ranked = random.sample(sites.count, of: sites)
        var weights: [Double] = []
        weights.reserveCapacity(ranked.count)
        for rank in ranked.indices { weights.append((weights.last ?? 0) + 1 / Double(rank + 1)) }
        let total = weights.last ?? 0
        return (0..<count).map { _ in
            let scheme = random.chance(85) ? "https" : "http"
            let host =
                random.chance(10)
                ? Vocabulary.unknownHost(&random)
                : random.pick(ranked[Self.firstIndex(in: weights, above: random.fraction() * total)])
            return "\(scheme)://\(host)\(random.pick(Vocabulary.pages))"
        }
    }

    private static func firstIndex(in sums: [Double], above point: Double) -> Int {
        var range = 0..<(sums.count - 1)
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if sums[middle] > point {
                range = range.lowerBound..<middle
            } else {
                range = (middle + 1)..<range.upperBound
            }
        }
        return range.lowerBound
    }
}
