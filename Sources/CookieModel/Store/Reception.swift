/// What became of a received cookie among those of its site.
struct Reception {
    /// What happened.
    var outcome: StorageDecision.Outcome
    /// Why the cookie is rejected.
    var reasons: ReasonSet<RejectionReason> = []
    /// The stored cookie with the same ID, if there was one.
    var previous: [Cookie] = []
    /// The cookies that only requests told and that this one stands for.
    var superseded: [Cookie.ID] = []
    /// The cookies that had to make room.
    var evicted: [Eviction] = []
}
