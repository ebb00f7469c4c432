import FuzzSupport

@testable import OfflinePackages

/// Words as versions, whose order is that of Semantic Versioning written as plainly as can be.
enum VersionCheck {
    static func check(_ text: String) {
        let versions = text.split(whereSeparator: { " \n\",".contains($0) }).prefix(4)
            .compactMap { PackageVersion(String($0)) }
        for version in versions {
            Invariant.holds(
                PackageVersion(version.description) == version, "a version is the same when it is read again")
            for other in versions {
                let order = version.order(other)
                Invariant.holds(
                    order.signum() == plainOrder(version.description, other.description), "versions are in order")
                Invariant.holds(order.signum() == -other.order(version).signum(), "in both directions")
                Invariant.holds(version.precedes(other) == (order < 0), "and one precedes the other")
            }
        }
    }

    private static func plainOrder(_ left: String, _ right: String) -> Int {
        let (left, right) = (identifiers(left), identifiers(right))
        for (own, other) in zip(left.core, right.core) where own != other { return order(own, other) }
        if left.more.isEmpty != right.more.isEmpty { return left.more.isEmpty ? 1 : -1 }
        for (own, other) in zip(left.more, right.more) where own != other { return order(own, other) }
        return (left.more.count - right.more.count).signum()
    }

    private static func identifiers(_ text: String) -> (core: [[UInt8]], more: [[UInt8]]) {
        let version = text.utf8.prefix { $0 != 0x2B }
        let core = version.prefix { $0 != 0x2D }
        let more = version.dropFirst(core.count + 1)
        return (core.split(separator: 0x2E).map(Array.init), more.split(separator: 0x2E).map(Array.init))
    }

    /// Numbers come before names. A number with more digits is larger, since none begins with a zero.
    private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let (isLeft, isRight) = (isNumber(left), isNumber(right))
        if isLeft != isRight { return isLeft ? -1 : 1 }
        if isLeft, left.count != right.count { return left.count < right.count ? -1 : 1 }
        return left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    private static func isNumber(_ identifier: [UInt8]) -> Bool {
        identifier.allSatisfy { (0x30...0x39).contains($0) }
    }
}
