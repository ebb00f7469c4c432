import FuzzSupport

@testable import PublicSuffix
@testable import WebPrimitives

/// The encoder against a decoder that was written apart from it (RFC 3492, section 6.2).
enum PunycodeCheck {
    private static let labelLimit = 256

    /// Encodes the input as one label, whatever is in it, and decodes it again.
    static func roundTrip(_ input: [UInt8]) {
        let label = Array(String(decoding: input.prefix(labelLimit * 4), as: UTF8.self).unicodeScalars)
        let encoded = Punycode.encode(label)
        Invariant.holds((encoded == nil) == (label.count > labelLimit), "every label of up to 256 scalars is encoded")
        guard let encoded else { return }
        Invariant.holds(encoded.allSatisfy { $0 < 0x80 }, "an A-label is ASCII")
        // The delimiter is looked for from the end: a label of ASCII alone has one there.
        Invariant.holds(decode(encoded) == label.map(\.value), "what is encoded is decoded to what it was")
        Invariant.holds(Punycode.decode(encoded) == label, "both decoders agree")
    }

    private static func decode(_ encoded: [UInt8]) -> [UInt32]? {
        var output: [UInt32] = []
        var rest = encoded[...]
        if let delimiter = encoded.lastIndex(of: UInt8(ascii: "-")) {
            output = encoded[..<delimiter].map { UInt32($0) }
            rest = encoded[(delimiter + 1)...]
        }
        var (n, i, bias) = (UInt32(128), UInt32(0), UInt32(72))
        while !rest.isEmpty {
            let oldI = i
            var (weight, k) = (UInt32(1), UInt32(36))
            while true {
                guard let digit = rest.popFirst().flatMap(value) else { return nil }
                i += digit * weight
                let threshold = min(max(k, bias + 1) - bias, 26)
                if digit < threshold { break }
                weight *= 36 - threshold
                k += 36
            }
            let count = UInt32(output.count + 1)
            bias = adapted(i - oldI, count, isFirst: oldI == 0)
            n += i / count
            i %= count
            output.insert(n, at: Int(i))
            i += 1
        }
        return output
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 26
        default: nil
        }
    }

    private static func adapted(_ difference: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = difference / (isFirst ? 700 : 2)
        delta += delta / count
        var k: UInt32 = 0
        while delta > 455 {
            delta /= 35
            k += 36
        }
        return k + 36 * delta / (delta + 38)
    }
}
