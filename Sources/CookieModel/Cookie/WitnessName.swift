package import WebPrimitives

/// The names of witness cookies, which a gateway gives to a browser to learn which cookies it sends.
///
/// Witnesses belong to the browser and its gateway. A browser's recording or profile contains them, but a jar never stores
/// one, whichever installation made it, and no server gets one.
package enum WitnessName {
    /// The beginning of every name, possibly after a prefix of the draft.
    package static let mark: StaticString = "crumb-witness-"

    /// Whether a cookie of this name is a witness.
    package static func matches(_ name: Octets) -> Bool {
        // Most names begin with another octet.
        guard let first = name.first, first == UInt8(ascii: "c") || first == UInt8(ascii: "_") else { return false }
        return name.withSpan { bytes in
            let prefixes: [StaticString] = ["__Host-", "__Secure-"]
            let start = prefixes.first { bytes.hasPrefix($0) }?.utf8CodeUnitCount ?? 0
            return bytes.extracting(start..<bytes.count).hasPrefix(mark)
        }
    }
}
