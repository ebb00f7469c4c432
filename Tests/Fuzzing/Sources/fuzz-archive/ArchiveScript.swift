import FuzzSupport

@testable import WebPrimitives

/// An archive that bytes describe: its entries have right checksums and places unless the bytes say otherwise.
///
/// So mutations reach what stands behind the checksums. Each entry begins with a byte of deviations; after the last entry,
/// the bytes change octets of the finished file.
struct ArchiveScript {
    private(set) var octets: [UInt8] = []
    private var input: ArraySlice<UInt8>
    private var (directory, count) = ([UInt8](), 0)

    private static let names = [
        "a", "b", "a/b", "a/", "crumb-package.json", "crumb-package.sig", "../a", "a//b", "é", "A",
    ]

    init(_ input: [UInt8]) {
        self.input = input[...]
        let prefix = next() & 15
        if prefix == 15 { octets = [0x4D, 0x5A] }
        for _ in 0..<(prefix % 6) { entry() }
        end()
        for _ in 0..<4 where self.input.count >= 2 {
            let place = Int(next()) << 2 | Int(next() & 3)
            if !octets.isEmpty { octets[octets.count - 1 - place % octets.count] ^= next() }
        }
    }

    private mutating func next() -> UInt8 { input.popFirst() ?? 0 }

    private mutating func entry() {
        let (changes, name) = (next(), ArchiveScript.names[Int(next()) % ArchiveScript.names.count])
        let plain = Array(input.prefix(Int(next() & 63)))
        input = input.dropFirst(plain.count)
        let isCompressed = changes & 1 != 0
        // Deflate with one stored block.
        let packed =
            isCompressed ? [1] + number(plain.count, 2) + number(~plain.count & 0xFFFF, 2) + plain : plain
        var checksum = CRC32()
        checksum.update(plain)
        var sizes = number(Int(checksum.value), 4) + number(packed.count, 4) + number(plain.count, 4)
        let (hasDescriptor, extra) = (changes & 2 != 0, changes & 4 != 0 ? [0x55, 0x54, 1, 0, 7] : [UInt8]())
        if changes & 8 != 0 { sizes[Int(next()) % 12] ^= next() }
        let flags = number(hasDescriptor ? 8 : 0, 2) + number(isCompressed ? 8 : 0, 2) + [0, 0, 0x21, 0]
        let start = octets.count
        let lengths = number(name.utf8.count, 2) + number(extra.count, 2)
        octets += number(0x0403_4B50, 4) + [20, 0] + flags
        octets += hasDescriptor && changes & 16 != 0 ? [UInt8](repeating: 0, count: 12) : sizes
        octets += lengths + Array(name.utf8) + extra + packed
        if hasDescriptor { octets += (changes & 32 != 0 ? number(0x0807_4B50, 4) : []) + sizes }
        if changes & 64 != 0 { octets += [next()] }
        directory += number(0x0201_4B50, 4) + [20, 3, 20, 0] + flags + sizes + lengths
        directory += [0, 0, 0, 0, 0, 0] + number(0o100644 << 16, 4)
        directory += number(changes & 128 != 0 ? Int(next()) : start, 4) + Array(name.utf8) + extra
        count += 1
    }

    private mutating func end() {
        let start = octets.count
        let comment = Array(input.prefix(Int(next() & 31)))
        input = input.dropFirst(comment.count)
        octets += directory
        octets += number(0x0605_4B50, 4) + [0, 0, 0, 0] + number(count, 2) + number(count, 2)
        octets += number(directory.count, 4) + number(start, 4) + number(comment.count, 2) + comment
    }

    private func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
