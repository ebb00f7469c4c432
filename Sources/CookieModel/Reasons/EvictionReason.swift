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
        case .domainLimit: "its registrable domain had more cookies than the jar keeps of one"
        case .partitionLimit: "its site had more cookies within the partition than the jar keeps of one"
        case .partitionOctetLimit: "its site had more octets within the partition than the jar keeps of one"
        case .totalLimit: "there were more cookies than the jar keeps"
        }
    }

    /// What a server or a user does about it, for a person.
    public var remedy: String {
        switch self {
        case .domainLimit: "server: fewer cookies; user: raise the limit"
        case .partitionLimit: "server: fewer cookies"
        case .partitionOctetLimit: "server: keep the data on the server, an id in the cookie"
        case .totalLimit: "user: raise the limit"
        }
    }
}
