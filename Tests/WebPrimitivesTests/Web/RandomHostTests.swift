import TestSupport
import Testing

@testable import WebPrimitives

@Suite("Random hosts")
struct RandomHostTests {
    /// Characters that some step of UTS 46 or some parser of addresses makes something of.
    private static let alphabet: [Unicode.Scalar] = Array(
        "abxn-019.:%[]_*\"{ <=".unicodeScalars
            + "üßẞςİıſꭰᏸΐᾳ①℡ﬁㄱﾡ가각。．食☃א١۱بक्ष".unicodeScalars
            + "\u{301}\u{308}\u{338}\u{5B0}\u{94D}\u{200C}\u{200D}\u{AD}\u{200B}\u{FE0F}\u{200E}\u{E0041}\u{10041}"
            .unicodeScalars + "\u{32931}\u{10950}\u{1E6E3}\u{20C1}\u{378}\u{FFFD}\u{10FFFF}".unicodeScalars)

    private static func text(_ random: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        if random.once(in: 12) { text += "xn--".unicodeScalars }
        for _ in 0..<(1 + random.below(9)) {
            let scalar = Unicode.Scalar(UInt32(random.below(0x11_0000)))
            text.append(random.once(in: 15) ? scalar ?? "a" : random.pick(alphabet))
        }
        return String(text)
    }

    @Test("A canonical host is ASCII, has nothing that no host has, and parses to itself")
    func idempotence() throws {
        var random = SeededGenerator(seed: 46)
        var count = 0
        for _ in 0..<12_000 {
            let text = RandomHostTests.text(&random)
            guard let host = WebHost(text) else { continue }
            count += 1
            let isPlain = host.octets.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }
            guard !host.octets.isEmpty, isPlain, WebHost(host.octets) == host, WebHost(stored: host.octets) == host
            else {
                Issue.record("\(text.debugDescription): \(host)")
                return
            }
        }
        #expect(count > 2_000)
    }

    @Test("Percent-encoded in any part, a host is the same")
    func spellings() throws {
        var random = SeededGenerator(seed: 47)
        for _ in 0..<6_000 {
            let text = RandomHostTests.text(&random)
            guard !text.contains("["), !text.contains("%") else { continue }
            let encoded = text.utf8.map { byte in
                random.once(in: 2) ? "%" + String(UInt32(byte) + 256, radix: 16).dropFirst() : nil
            }
            var octets: [UInt8] = []
            for (byte, escape) in zip(text.utf8, encoded) { octets += escape.map { Array($0.utf8) } ?? [byte] }
            guard WebHost(Octets(octets)) == WebHost(text) else {
                Issue.record("\(text.debugDescription): \(Octets(octets))")
                return
            }
        }
    }

    @Test("A long and strange domain is rejected quickly")
    func lengths() {
        #expect(WebHost(String(repeating: "ü", count: 256)) != nil)
        #expect(WebHost(String(repeating: "ü", count: 257)) == nil)
        #expect(WebHost(String(repeating: "ü.", count: 200)) != nil)
        #expect(WebHost(String(repeating: "ü.", count: 300)) == nil)
        #expect(WebHost(String(repeating: "ü", count: 1_000_000)) == nil)
        #expect(WebHost(String(repeating: "a", count: 1_000_000)) != nil)
    }
}
