/// Why a stored cookie had to make room.
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

    /// One sentence for a person.
    public var explanation: String {
        switch self {
        case .domainLimit: "its registrable domain exceeded the jar's limit of cookies"
        case .partitionLimit: "its site exceeded the jar's limit of cookies in one partition"
        case .partitionOctetLimit: "its site exceeded the jar's limit of octets in one partition"
        case .totalLimit: "the jar exceeded its limit of cookies"
        }
    }

    /// How a user or a server fixes it, for a person.
    public var remedy: String {
        switch self {
        case .domainLimit: "raise the limit; the server can set fewer cookies"
        case .partitionLimit: "raise the limit; the server can set fewer cookies"
        case .partitionOctetLimit: "raise the limit; the server can keep the data itself and set an ID"
        case .totalLimit: "raise the limit"
        }
    }
}
