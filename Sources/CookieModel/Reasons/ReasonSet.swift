/// A documented reason with a stable identifier.
public protocol DecisionReason: RawRepresentable<UInt8>, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// The stable identifier, as `crumb explain` and scenarios write it.
    var identifier: String { get }
    /// One sentence for a user.
    var explanation: String { get }
    /// How a developer, a user or a server fixes it, for a person, fit to follow "Fix: ". It names no command.
    var remedy: String { get }
}

extension DecisionReason {
    /// The ``identifier``.
    public var description: String { identifier }

    /// The fix for users of the command `crumb`; docs/reasons.md says the same.
    package var commandRemedy: String {
        switch self {
        case let reason as ExclusionReason: reason.remedySentence.commandText
        case let reason as RejectionReason: reason.remedySentence.commandText
        default: remedy
        }
    }
}

/// The reasons of one decision, in their documented order. Never allocates.
public struct ReasonSet<Reason: DecisionReason>: Hashable, Sendable, Sequence, ExpressibleByArrayLiteral {
    private var bits: UInt32 = 0

    /// Creates an empty set.
    public init() {}

    /// Creates a set of the given reasons.
    public init(arrayLiteral reasons: Reason...) {
        for reason in reasons { insert(reason) }
    }

    /// Whether there is no reason.
    public var isEmpty: Bool { bits == 0 }

    /// Adds a reason.
    package mutating func insert(_ reason: Reason) {
        bits |= 1 << UInt32(reason.rawValue)
    }

    /// Removes a reason.
    package mutating func remove(_ reason: Reason) {
        bits &= ~(1 << UInt32(reason.rawValue))
    }

    /// Adds every reason of `other`.
    package mutating func formUnion(_ other: ReasonSet) {
        bits |= other.bits
    }

    /// Whether the set contains `reason`.
    public func contains(_ reason: Reason) -> Bool {
        bits & 1 << UInt32(reason.rawValue) != 0
    }

    /// The reasons in their documented order.
    package var reasons: [Reason] {
        Reason.allCases.filter { contains($0) }
    }

    /// The reasons one by one, in their documented order.
    public func makeIterator() -> IndexingIterator<[Reason]> {
        reasons.makeIterator()
    }

    /// The identifiers in their documented order.
    public var identifiers: [String] {
        reasons.map(\.identifier)
    }
}

extension ReasonSet: CustomStringConvertible {
    /// The identifiers, separated by commas.
    public var description: String {
        identifiers.joined(separator: ", ")
    }
}

/// Why a stored cookie was evicted.
public enum EvictionReason: UInt8, DecisionReason {
    /// Too many cookies of its registrable domain (section 6.1).
    case domainLimit
    /// Too many cookies of its registrable domain within its partition (CHIPS).
    case partitionLimit
    /// Too many octets of its registrable domain within its partition (CHIPS).
    case partitionOctetLimit
    /// Too many cookies in all (section 6.1).
    case totalLimit

    /// The stable identifier, as reports and scenarios write it.
    public var identifier: String {
        switch self {
        case .domainLimit: "domain-limit"
        case .partitionLimit: "partition-limit"
        case .partitionOctetLimit: "partition-octet-limit"
        case .totalLimit: "total-limit"
        }
    }

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .domainLimit: "its registrable domain exceeded the jar's limit of cookies"
        case .partitionLimit: "its site exceeded the jar's limit of cookies in one partition"
        case .partitionOctetLimit: "its site exceeded the jar's limit of octets in one partition"
        case .totalLimit: "the jar exceeded its limit of cookies"
        }
    }

    /// The fix, for a user or a server.
    public var remedy: String {
        switch self {
        case .domainLimit: "raise the limit; the server can set fewer cookies"
        case .partitionLimit: "raise the limit; the server can set fewer cookies"
        case .partitionOctetLimit: "raise the limit; the server can keep the data itself and set an ID"
        case .totalLimit: "raise the limit"
        }
    }
}
