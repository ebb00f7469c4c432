public import CookieModel
public import SessionStore

extension StoreDiff {
    /// What became of a change of the jar.
    public struct Outcome: Sendable {
        /// What was to be done.
        public let action: Action
        /// What the jar decided.
        public let decision: StorageDecision
    }

    /// Does what is to be done to the jar, in one transaction: what it takes in goes through its rules.
    ///
    /// - Returns: what became of each change of the jar. Changes of the native store are not among them.
    @discardableResult
    public func apply(to jar: CookieJar, now: Timestamp) throws(SessionStoreError) -> [Outcome] {
        let known = Dictionary(self.jar.map { ($0.id, $0) }) { _, last in last }
        guard actions.contains(where: { $0.winner == .native }) else { return [] }
        return try jar.withBatch(now: now) { batch throws(SessionStoreError) in
            var outcomes: [Outcome] = []
            for action in actions {
                switch action.change {
                case .takeIntoJar(let cookie):
                    let decision = try batch.receive(cookie.record(over: known[cookie.id]))
                    outcomes.append(Outcome(action: action, decision: decision))
                case .removeFromJar(let cookie):
                    outcomes.append(Outcome(action: action, decision: try batch.receive(cookie.deletion())))
                case .putIntoNative, .removeFromNative: break
                }
            }
            return outcomes
        }.result
    }
}
