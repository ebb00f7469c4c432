import TestSupport
import Testing

@testable import Captures

@Suite("Random damage")
struct MutationTests {
    @Test(
        "No damage to a capture makes a reader crash, or return more than it contains",
        arguments: PieceTests.captures.indices)
    func mutations(index: Int) {
        let original = PieceTests.captures[index]
        var generator = SeededGenerator(seed: UInt64(index) + 2026)
        for round in 0..<2000 {
            var capture = original
            // Forced too: damage to the first bytes would otherwise end most runs at once.
            if round % 2 == 0 { capture.format = original.reader(atEndOf: original.bytes).format ?? .http }
            for _ in 0...Int.random(in: 0..<4, using: &generator) { mutate(&capture.bytes, using: &generator) }
            let items = capture.items
            #expect(items.count <= capture.bytes.count + 1)
            #expect(items.responses.allSatisfy { $0.setCookie.count <= capture.bytes.count })
            guard round % 10 == 0 else { continue }
            #expect(capture.items(pieceLength: Int.random(in: 1...9, using: &generator)) == items)
        }
    }

    private func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(0x7B) }
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, position + Int.random(in: 1...12, using: &generator))
        let interesting: [UInt8] = Array("\"\\{}[]:,\r\n\t #.uHTTP0-".utf8) + [0, 0x7F, 0xC3, 0xED, 0xFF]
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[position] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes[position] = interesting.randomElement(using: &generator) ?? 0
        case 2: bytes.insert(interesting.randomElement(using: &generator) ?? 0, at: position)
        case 3: bytes.removeSubrange(position..<end)
        case 4: bytes.insert(contentsOf: bytes[position..<end], at: Int.random(in: 0...bytes.count, using: &generator))
        default: bytes.removeSubrange(position...)
        }
    }
}
