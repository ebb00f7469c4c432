/// What becomes of one received cookie, and why.
public struct StorageDecision: Sendable, Hashable {
    /// What happens to the cookie store.
    public enum Outcome: String, Sendable {
        /// A new cookie goes in.
        case stored
        /// The cookie takes the place of one with the same ID.
        case replaced
        /// The cookie's lifetime is over already: one with the same ID, if there is one, goes out.
        case deleted
        /// Nothing changes.
        case rejected
    }

    /// What happens.
    public let outcome: Outcome
    /// The name received; `nil` where the line was not parsed.
    public let name: Octets?
    /// The cookie as it is stored, or as it would have been where it is expired; `nil` where it is rejected.
    public var cookie: Cookie?
    /// The stored cookie with the same ID, which goes out.
    public let previous: Cookie?
    /// Why it is rejected; empty otherwise.
    public let reasons: ReasonSet<RejectionReason>

    init(
        outcome: Outcome, name: Octets?, cookie: Cookie? = nil, previous: Cookie? = nil,
        reasons: ReasonSet<RejectionReason> = []
    ) {
        self.outcome = outcome
        self.name = name
        self.cookie = cookie
        self.previous = previous
        self.reasons = reasons
    }

    /// The decision on a line that is ignored before anything is decided.
    public static func ignored(_ reasons: ReasonSet<RejectionReason>) -> StorageDecision {
        StorageDecision(outcome: .rejected, name: nil, reasons: reasons)
    }

    /// The same decision where the cookie has run out in the meantime.
    public var deleted: StorageDecision {
        StorageDecision(outcome: .deleted, name: name, cookie: cookie, previous: previous)
    }
}
