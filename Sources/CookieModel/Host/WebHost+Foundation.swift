import Foundation

extension WebHost {
    /// Domain to ASCII: UTS 46, non-transitional, through Foundation's ICU; `nil` where the processing fails.
    ///
    /// Only hosts with a non-ASCII byte, a percent sign or an A-label come here. Foundation processes no host of ASCII
    /// alone, and so lets fake A-labels through: a U-label is put in front, and its A-label taken off again. Foundation
    /// also checks hyphens and lengths, which the URL Standard does not: ASCII labels stay out of that, and a U-label
    /// that fails for it is refused, as no registry gives one away.
    static func domainToASCII(_ bytes: [UInt8]) -> [UInt8]? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let labels = text.unicodeScalars.split(omittingEmptySubsequences: false) { scalar in
            [0x2E, 0x3002, 0xFF0E, 0xFF61].contains(scalar.value)
        }.map(String.init)
        let areExempt = labels.map(isExempt)
        var components = URLComponents()
        components.scheme = "http"
        components.host = (["ñ"] + zip(labels, areExempt).map { $1 ? "a" : $0 }).joined(separator: ".")
        guard let host = components.encodedHost, host.hasPrefix("xn--ida."), host.utf8.allSatisfy({ $0 < 0x80 }),
            !host.contains("%")
        else { return nil }
        var encoded = host.split(separator: ".", omittingEmptySubsequences: false).dropFirst().map(String.init)
        if areExempt.contains(true) {
            // A character such as U+2024 is mapped to a dot.
            guard encoded.count == labels.count else { return nil }
            for index in encoded.indices where areExempt[index] { encoded[index] = labels[index] }
        }
        return encoded.joined(separator: ".").utf8.map(ASCII.lowercased)
    }

    /// Whether `label` is ASCII, no A-label, and more than letters and digits: UTS 46 has nothing to do with it.
    private static func isExempt(_ label: String) -> Bool {
        let bytes = Array(label.utf8)
        guard bytes.allSatisfy({ $0 < 0x80 }), !bytes.span.hasPrefixIgnoringCase("xn--") else { return false }
        return bytes.isEmpty || bytes.count > 63 || !bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) }
    }
}
