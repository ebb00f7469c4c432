import CookieModel
import Testing

@testable import SessionStore

@Suite("Sealed values")
struct SealerTests {
    private let place = Array("here".utf8)

    @Test("A sealed value is opened unchanged", arguments: [0, 1, 15, 16, 17, 4096, 70_000])
    func roundTrip(count: Int) throws {
        let sealer = Sealer(try Given.key(), id: 1)
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try sealer.seal(value, at: place)
        #expect(sealer.open(Octets(sealed), at: place) == Octets(value))
        #expect(sealed.count == value.count + 33)
    }

    @Test("The same value is never sealed to the same octets twice")
    func nonces() throws {
        let sealer = Sealer(try Given.key(), id: 1)
        let sealed = try (0..<1000).map { _ in try sealer.seal(Array("value".utf8), at: place) }
        #expect(Set(sealed).count == sealed.count)
    }

    @Test("A sealed value with a flipped bit cannot be opened")
    func flippedBits() throws {
        let sealer = Sealer(try Given.key(), id: 1)
        let sealed = try sealer.seal(Array("a session".utf8), at: place)
        for bit in 0..<(sealed.count * 8) {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(sealer.open(Octets(changed), at: place) == nil, "bit \(bit)")
        }
    }

    @Test("A sealed value of another length cannot be opened")
    func lengths() throws {
        let sealer = Sealer(try Given.key(), id: 1)
        let sealed = try sealer.seal(Array("a session".utf8), at: place)
        for count in 0..<sealed.count {
            #expect(sealer.open(Octets(Array(sealed.prefix(count))), at: place) == nil)
            #expect(sealer.open(Octets(Array(sealed.suffix(count))), at: place) == nil)
        }
        #expect(sealer.open(Octets(sealed + [0]), at: place) == nil)
    }

    @Test("Another place, another key or another key's ID does not open a sealed value")
    func otherPlace() throws {
        let sealer = Sealer(try Given.key(), id: 1)
        let sealed = Octets(try sealer.seal(Array("a session".utf8), at: place))
        #expect(sealer.open(sealed, at: Array("there".utf8)) == nil)
        #expect(sealer.open(sealed, at: []) == nil)
        #expect(Sealer(try Given.key(2), id: 1).open(sealed, at: place) == nil)
        #expect(Sealer(try Given.key(), id: 2).open(sealed, at: place) == nil)
    }

    @Test(
        "No two sealing contexts have the same encoding",
        arguments: [
            (["ab", "c"], ["a", "bc"]), (["a", ""], ["", "a"]), (["a"], ["a", ""]), ([], [""]),
            (["a\0\0\0\u{1}b"], ["a", "b"]), (["x", "y"], ["y", "x"]),
        ])
    func places(left: [String], right: [String]) {
        func place(_ parts: [String]) -> [UInt8] {
            var place = SealedPlace("kind")
            for part in parts { place.append(part.utf8) }
            return place.bytes
        }
        #expect(place(left) != place(right))
        #expect(SealedPlace("cookie").bytes != SealedPlace("token").bytes)
    }

    @Test("A cookie's sealing context has every part of its identity, its flags and its lifetime")
    func cookiePlace() throws {
        let host = try #require(WebHost("www.example.com"))
        let id = Cookie.ID(name: "n", domain: host, isHostOnly: true, path: "/", partitionKey: nil)
        let cookie = Cookie(
            id: id, value: "v", isSecure: false, isHTTPOnly: false, sameSite: .default, expiry: nil,
            creation: Given.now, lastAccess: Given.now)
        var others = Array(repeating: cookie, count: 11)
        others[0].id.name = "m"
        others[1].id.domain = try #require(WebHost("example.com"))
        others[2].id.isHostOnly = false
        others[3].id.path = "/n"
        others[4].id.partitionKey = PartitionKey(topLevelSite: "https://example.com", hasCrossSiteAncestor: false)
        others[5].isSecure = true
        others[6].isHTTPOnly = true
        others[7].sameSite = .lax
        others[8].expiry = Timestamp(microseconds: 0)
        others[9].expiry = Given.now
        others[10].creation = Timestamp(microseconds: 0)
        let places = ([cookie] + others).map { $0.sealedPlace(jarID: 1) } + [cookie.sealedPlace(jarID: 2)]
        #expect(Set(places).count == 13)
        var same = cookie
        (same.value, same.lastAccess, same.sequence) = ("w", Timestamp(microseconds: 0), 7)
        #expect(same.sealedPlace(jarID: 1) == cookie.sealedPlace(jarID: 1))
    }

    @Test("Nonces follow each other from a random start, and none comes twice")
    func nonceOrder() {
        var sequence = NonceSequence(high: 7, low: .max - 1)
        let nonces = (0..<4).map { _ in sequence.next() }
        #expect(nonces.map(\.high) == [7, 7, 8, 8])
        #expect(nonces.map(\.low) == [.max - 1, .max, 0, 1])
        var last = NonceSequence(high: .max, low: .max)
        _ = last.next()
        #expect(last.next() == (0, 0))
        let starts = (0..<1000).map { _ in
            var sequence = NonceSequence()
            return sequence.next().high
        }
        #expect(Set(starts).count == 1000)
    }

    @Test("Values that are sealed one after the other have consecutive nonces")
    func consecutive() throws {
        let sealer = Sealer(try Given.key(), id: 1)
        var nonces = NonceSequence(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C)
        let sealed = try (0..<2).map { _ in try sealer.seal(Array("value".utf8), at: place, &nonces) }
        #expect(sealed.map { Array($0[5..<17]) } == [Array(1...12), Array(1...11) + [13]])
        #expect(sealed.allSatisfy { sealer.open(Octets($0), at: place) == "value" })
    }

    @Test("The description of a key shows only its type")
    func keyIsSilent() throws {
        let key = try Given.key()
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "SealingKey" && String(reflecting: key) == "SealingKey")
        #expect(dumped.filter { $0 != "\n" } == "- SealingKey")
        #expect(SealingKey(bytes: []) == nil && SealingKey(bytes: Array(repeating: 0, count: 31)) == nil)
    }
}
