import TestSupport
import Testing

@testable import CookieModel

@Suite("Sites of a store")
struct SiteTableTests {
    @Test("Every site is found under its domain only, after any insertions and removals")
    func comingAndGoing() {
        var random = SeededGenerator(seed: 31)
        var table = SiteTable()
        var expected: Set<Octets> = []
        for round in 0..<400 {
            let domain = Octets("\(random.below(300)).example")
            if table.index(of: domain) == nil {
                let index = table.insert(SiteCookies(), for: domain)
                #expect(table.sites[index].domain == domain)
                expected.insert(domain)
            }
            if round % 50 == 49 {
                let gone = expected.filter { _ in random.once(in: 3) }
                table.removeAll { gone.contains($0.domain) }
                expected.subtract(gone)
            }
            #expect(Set(table.sites.map(\.domain)) == expected)
            for number in 0..<300 {
                let domain = Octets("\(number).example")
                #expect((table[domain] != nil) == expected.contains(domain))
            }
        }
    }

    @Test("Domains are told apart by any octet and by their length")
    func hashes() {
        var hashes: Set<UInt64> = []
        var count = 0
        for length in 0...40 {
            let plain = [UInt8](repeating: 0x61, count: length)
            for index in -1..<length {
                var octets = plain
                if index >= 0 { octets[index] = 0x62 }
                var hasher = OctetsHasher()
                hasher.combine(Octets(octets))
                hashes.insert(hasher.value)
                count += 1
            }
        }
        #expect(hashes.count == count)
    }

    @Test("Hashers with different keys disagree")
    func keys() {
        var random = SeededGenerator(seed: 32)
        let hashes = (0..<100).map { _ in
            var hasher = OctetsHasher(using: &random)
            hasher.combine("example.com")
            return hasher.value
        }
        #expect(Set(hashes).count == hashes.count)
    }
}
