import WebPrimitives

/// A quick hash of octets: eight of them at a time go through a multiplication whose two halves are folded together.
///
/// The key is secret, so an attacker cannot choose octets that collide.
struct OctetsHasher: Sendable {
    private var state: UInt64
    private let key: UInt64

    /// A hash that is the same in every process, for places where a collision costs a comparison and nothing else.
    init() {
        state = 0x9E37_79B9_7F4A_7C15
        key = 0xBF58_476D_1CE4_E5B9
    }

    /// A hash that only this hasher and its copies give.
    init(using generator: inout some RandomNumberGenerator) {
        state = generator.next()
        key = generator.next() | 1
    }

    /// Feeds `octets` and their number.
    @inline(__always)
    mutating func combine(_ octets: borrowing Octets) {
        octets.withOctets { combine($0) }
    }

    @inline(__always)
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        let count = bytes.count
        // Multiplied, so that other octets cannot compensate for another length.
        state ^= UInt64(truncatingIfNeeded: count) &* key
        if count >= 8 {
            var index = 0
            while index < count - 8 {
                fold(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index += 8
            }
            // The last eight, of which some may have been there already.
            fold(bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        } else if count >= 4 {
            let first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
            let last = bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            fold(UInt64(first) << 32 | UInt64(last))
        } else if count > 0 {
            fold(UInt64(bytes[0]) << 16 | UInt64(bytes[count / 2]) << 8 | UInt64(bytes[count - 1]))
        }
    }

    @inline(__always)
    private mutating func fold(_ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: key)
        state = product.high ^ product.low
    }

    /// The hash of the bytes so far.
    @inline(__always)
    var value: UInt64 { state }
}
