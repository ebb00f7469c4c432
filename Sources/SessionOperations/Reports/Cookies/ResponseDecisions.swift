/// What became of the Set-Cookie lines of a response, in order, in JSON, and what there is to do where it says "not signed
/// in".
package struct ResponseDecisions: Codable, Sendable {
    package let decisions: [StorageDecisionReport]
    package let login: LoginChallengeReport?

    package init(decisions: [StorageDecisionReport], login: LoginChallengeReport? = nil) {
        self.decisions = decisions
        self.login = login
    }
}
