import HTTPTypes
import Hummingbird
import OAuth2
import SessionOperations
import SessionStore

extension AgentPassphraseDocument {
    /// The passphrase.
    ///
    /// - Throws: `ServiceFailure` if it is empty or longer than a passphrase is.
    fileprivate func secret() throws -> Secret {
        guard (1...4096).contains(passphrase.utf8.count) else {
            throw ServiceFailure.bodyInvalid("passphrase: use 1 to 4096 octets")
        }
        return Secret(passphrase)
    }
}

extension SessionAPI {
    /// The lock is for those who may change everything: it stops everybody else, too.
    var agentRoutes: [ServiceRoute] {
        [
            ServiceRoute(.agent, isOfLock: true) { _, _ in
                .json(AgentReport(isLocked: agentLock.isLocked))
            },
            ServiceRoute(.lockAgent, isOfLock: true) {
                request, context in
                try agentLock.lock(try await request.document(AgentPassphraseDocument.self, in: context).secret())
                // A client of a gateway has the session of its jar, so the gateways stop.
                await gateways.stopAll()
                return .json(AgentReport(isLocked: true))
            },
            ServiceRoute(.unlockAgent, isOfLock: true) {
                request, context in
                let passphrase = try await request.document(AgentPassphraseDocument.self, in: context).secret()
                try agentLock.unlock(passphrase, now: now())
                return .json(AgentReport(isLocked: false))
            },
        ]
    }
}
