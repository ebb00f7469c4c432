import OAuth2
import SessionStore
import SessionWire

extension DatabaseOperation where Document == NoDocument, Output == StoredTokenList {
    package static var listTokens: Self {
        Self(.listTokens) { _, context in
            StoredTokenList(try context.database.tokens.all(), now: context.now)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == TokenStatusReport {
    package static var getToken: Self {
        Self(.getToken) { input, context in
            let tokens = context.database.tokens
            let stored = try tokens.get(input.name)
            return TokenStatusReport(
                token: StoredTokenReport(stored, now: context.now), credentials: try tokens.credentials(input.name),
                tokens: stored.tokens, holder: try tokens.lease(input.name, now: context.now)?.process)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == TokenRemoval {
    package static var removeToken: Self {
        Self(.removeToken) { input, context in
            guard try context.database.tokens.remove(input.name, now: context.now) else {
                throw OperationError(.tokenNotFound, "\(input.name): there is no token with this name")
            }
            return TokenRemoval(removed: input.name)
        }
    }
}
