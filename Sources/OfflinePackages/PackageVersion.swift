/// The version of a package, with the precedence of Semantic Versioning 2.0.0: `MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD]`.
package struct PackageVersion: Sendable, Hashable, CustomStringConvertible {
    /// The version as it was written.
    package let description: String
    private let numbers: [String]
    private let prerelease: [String]

    /// The longest version, in octets.
    private static let limit = 100

    /// Reads a version; `nil` for any other text.
    package init?(_ text: String) {
        guard text.utf8.count <= PackageVersion.limit else { return nil }
        let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        let core = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        numbers = core[0].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        prerelease =
            core.count > 1 ? core[1].split(separator: ".", omittingEmptySubsequences: false).map(String.init) : []
        let build = parts.count > 1 ? parts[1].split(separator: ".", omittingEmptySubsequences: false) : []
        // Section 2: Each element MUST be a non-negative integer, and MUST NOT contain leading zeroes.
        guard numbers.count == 3, numbers.allSatisfy(PackageVersion.isNumber),
            // Section 9: Identifiers MUST comprise only ASCII alphanumerics and hyphens and MUST NOT be empty. Numeric
            // identifiers MUST NOT include leading zeroes.
            prerelease.allSatisfy({ identifier in
                PackageVersion.isIdentifier(identifier)
                    && (!identifier.utf8.allSatisfy(PackageVersion.isDigit) || PackageVersion.isNumber(identifier))
            }), build.allSatisfy({ PackageVersion.isIdentifier(String($0)) })
        else { return nil }
        description = text
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }

    private static func isNumber(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isDigit) && (text == "0" || text.first != "0")
    }

    private static func isIdentifier(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }

    /// Whether this version comes before another one (section 11). Build metadata does not count.
    package func precedes(_ other: PackageVersion) -> Bool { order(other) < 0 }

    /// Negative if this version comes before another one, 0 if neither does, positive otherwise.
    package func order(_ other: PackageVersion) -> Int {
        for (own, others) in zip(numbers, other.numbers) where own != others {
            return PackageVersion.compare(numbers: own, others)
        }
        // A pre-release version has lower precedence than the associated normal version.
        if prerelease.isEmpty || other.prerelease.isEmpty {
            return (prerelease.isEmpty ? 1 : 0) - (other.prerelease.isEmpty ? 1 : 0)
        }
        for (own, others) in zip(prerelease, other.prerelease) where own != others {
            switch (PackageVersion.isNumber(own), PackageVersion.isNumber(others)) {
            case (true, true): return PackageVersion.compare(numbers: own, others)
            // Numeric identifiers always have lower precedence than non-numeric identifiers.
            case (true, false): return -1
            case (false, true): return 1
            case (false, false): return Array(own.utf8).lexicographicallyPrecedes(Array(others.utf8)) ? -1 : 1
            }
        }
        // A larger set of pre-release fields has a higher precedence, if all preceding identifiers are equal.
        return prerelease.count - other.prerelease.count
    }

    /// Compares numbers of any length.
    private static func compare(numbers left: String, _ right: String) -> Int {
        if left.utf8.count != right.utf8.count { return left.utf8.count < right.utf8.count ? -1 : 1 }
        return left == right ? 0 : left < right ? -1 : 1
    }
}
