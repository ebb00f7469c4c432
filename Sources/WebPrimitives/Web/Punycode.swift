/// RFC 3492, with the parameters that section 5 gives for domain names.
package enum Punycode {
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26
    private static let skew: UInt32 = 38
    private static let damp: UInt32 = 700
    private static let initialBias: UInt32 = 72
    private static let initialN: UInt32 = 128
    private static let maximumLength = 256

    /// Encodes one label, without the prefix `xn--` (RFC 3492, section 6.3).
    ///
    /// - Parameter label: The label, already mapped to lower case.
    /// - Returns: The ASCII octets, or `nil` for a label of more than 256 scalars. No domain name has one, and below that
    ///   no number overflows.
    package static func encode(_ label: [Unicode.Scalar]) -> [UInt8]? {
        guard label.count <= maximumLength else { return nil }
        // let n = initial_n, delta = 0, bias = initial_bias
        var n = initialN
        var delta: UInt32 = 0
        var bias = initialBias
        // let h = b = the number of basic code points in the input; copy them to the output in order,
        // followed by a delimiter if b > 0
        var output = label.filter(\.isASCII).map { scalar in UInt8(truncatingIfNeeded: scalar.value) }
        let basicCount = UInt32(output.count)
        var handled = basicCount
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        // while h < length(input) do begin
        while handled < label.count {
            // let m = the minimum code point >= n in the input
            guard let next = label.lazy.map(\.value).filter({ value in value >= n }).min() else { return nil }
            // let delta = delta + (m - n) * (h + 1), fail on overflow; let n = m
            delta += (next - n) * (handled + 1)
            n = next
            // for each code point c in the input (in order) do begin
            for scalar in label {
                // if c < n then increment delta, fail on overflow
                if scalar.value < n { delta += 1 }
                // if c == n then begin: output delta as a variable-length integer
                if scalar.value == n {
                    append(delta, bias: bias, to: &output)
                    bias = adapt(delta, points: handled + 1, first: handled == basicCount)
                    delta = 0
                    handled += 1
                }
            }
            // increment delta and n
            delta += 1
            n += 1
        }
        return output
    }

    /// Decodes one label, without the prefix `xn--` (RFC 3492, section 6.2).
    ///
    /// - Parameter label: The label, in ASCII and lower case.
    /// - Returns: The scalars, or `nil` if no label has this encoding.
    static func decode(_ label: [UInt8]) -> [Unicode.Scalar]? {
        // let n = initial_n, i = 0, bias = initial_bias
        var n = initialN
        var i: UInt32 = 0
        var bias = initialBias
        // let output = the code points before the last delimiter, or empty if there is none
        let delimiter = label.lastIndex(of: UInt8(ascii: "-")) ?? 0
        var output = label[..<delimiter].map { Unicode.Scalar($0) }
        // while the input is not exhausted do begin: after the delimiter, if it was consumed
        var input = label[(delimiter > 0 ? delimiter + 1 : 0)...]
        while !input.isEmpty {
            // let oldi = i, w = 1; for k = base to infinity in steps of base do begin
            let old = i
            var w: UInt32 = 1
            var k = base
            while true {
                // let digit = the code point's digit-value, fail if it has none
                guard let octet = input.popFirst(), let digit = value(of: octet) else { return nil }
                // let i = i + digit * w, fail on overflow
                let (product, productOverflows) = digit.multipliedReportingOverflow(by: w)
                let (sum, sumOverflows) = i.addingReportingOverflow(product)
                guard !productOverflows, !sumOverflows else { return nil }
                i = sum
                // let t = tmin if k <= bias, tmax if k >= bias + tmax, or k - bias otherwise
                let t = k <= bias ? tMin : k >= bias + tMax ? tMax : k - bias
                if digit < t { break }
                // let w = w * (base - t), fail on overflow
                let (weight, overflows) = w.multipliedReportingOverflow(by: base - t)
                guard !overflows else { return nil }
                w = weight
                k += base
            }
            // let bias = adapt(i - oldi, length(output) + 1, test oldi is 0?)
            let length = UInt32(output.count) + 1
            bias = adapt(i - old, points: length, first: old == 0)
            // let n = n + i div (length(output) + 1), fail on overflow; let i = i mod (length(output) + 1)
            let (next, overflows) = n.addingReportingOverflow(i / length)
            guard !overflows, let scalar = Unicode.Scalar(next) else { return nil }
            n = next
            i %= length
            // insert n into output at position i; increment i
            output.insert(scalar, at: Int(i))
            i += 1
        }
        return output
    }

    private static func append(_ delta: UInt32, bias: UInt32, to output: inout [UInt8]) {
        // let q = delta; for k = base to infinity in steps of base do begin
        var q = delta
        var k = base
        while true {
            // let t = tmin if k <= bias, tmax if k >= bias + tmax, or k - bias otherwise
            let t = k <= bias ? tMin : k >= bias + tMax ? tMax : k - bias
            if q < t { break }
            // output the code point for digit t + ((q - t) mod (base - t)); let q = (q - t) div (base - t)
            output.append(digit(t + (q - t) % (base - t)))
            q = (q - t) / (base - t)
            k += base
        }
        output.append(digit(q))
    }

    /// Bias adaptation (RFC 3492, section 6.1).
    private static func adapt(_ delta: UInt32, points: UInt32, first: Bool) -> UInt32 {
        var delta = first ? delta / damp : delta / 2
        delta += delta / points
        var k: UInt32 = 0
        while delta > ((base - tMin) * tMax) / 2 {
            delta /= base - tMin
            k += base
        }
        return k + (((base - tMin + 1) * delta) / (delta + skew))
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return value < 26 ? UInt8(ascii: "a") + value : UInt8(ascii: "0") + value - 26
    }
    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 26
        default: nil
        }
    }
}
