import HTTPMessages
import WebPrimitives

/// The gateways that a request has passed. With this list, a gateway recognizes a request that comes back to it.
///
/// A gateway that sends a request to another proxy names itself in a Via field (RFC 9110, section 7.6.3). Only proxies
/// get that: a gateway that sends a request to its server removes these names, because servers treat requests with Via
/// differently. What other proxies have written in Via passes unchanged.
struct PassedGateways: Sendable, Equatable {
    private static let prefix = "crumb-"
    private static let digits = 16

    /// Their names.
    private(set) var names: [String] = []

    /// No gateway.
    init() {}

    /// The gateways that the head of a request names.
    init(_ head: MessageHead) {
        guard head.has("via") else { return }
        names = head.members("via").compactMap(PassedGateways.name)
    }

    /// Returns a new name for a gateway.
    static func newName() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
        return prefix + String(repeating: "0", count: PassedGateways.digits - digits.count) + digits
    }

    mutating func add(_ others: PassedGateways) { names += others.names }

    /// The value of a Via field that names them, and then `own`.
    func via(adding own: String) -> Octets {
        Octets((names + [own]).map { "1.1 \($0)" }.joined(separator: ", "))
    }

    /// The value of a Via field without the names of gateways; `nil` if nothing is left of it.
    static func withoutNames(_ value: Octets) -> Octets? {
        let members = value.split(separator: ASCII.comma).map { Octets(Array($0)).trimmingBlanks }
        let others = members.filter { name(String(decoding: $0.lowercased, as: UTF8.self)) == nil }
        guard others.count < members.count else { return value }
        return others.isEmpty ? nil : Octets(Array(others.map(\.bytes).joined(separator: Array(", ".utf8))))
    }

    /// The gateway that a member of Via names, in lower case; `nil` if it is another proxy.
    private static func name(_ member: String) -> String? {
        guard let name = member.split(separator: " ").last, name.hasPrefix(prefix),
            name.utf8.count == prefix.utf8.count + digits,
            name.dropFirst(prefix.utf8.count).allSatisfy(\.isHexDigit)
        else { return nil }
        return String(name)
    }
}

extension GatewayFailure {
    static let loop = GatewayFailure(
        .proxyLoopDetected, 508, "the proxies that the request goes through lead back to the first one",
        nextStep: "Name another proxy with --proxy for one of them, or none.")
}
