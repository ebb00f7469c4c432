/// What became of the Set-Cookie lines of a response, in order, in JSON.
package struct ResponseDecisions: Codable, Sendable {
    package let decisions: [StorageDecisionReport]

    package init(decisions: [StorageDecisionReport]) {
        self.decisions = decisions
    }
}
