public import SessionWire

extension SessionRequest where Answer == StoredTokenList {
    /// The logins, without their tokens.
    package static func tokens() -> Self {
        Self(.listTokens)
    }
}

extension SessionRequest where Answer == TokenStatusReport {
    /// A login in full, without its secrets.
    package static func token(_ name: String) -> Self {
        Self(.getToken, name)
    }
}

extension SessionRequest where Answer == TokenRemoval {
    /// Removes a login without revoking its tokens.
    package static func removeToken(_ name: String) -> Self {
        Self(.removeToken, name)
    }
}

extension SessionRequest where Answer == AccessTokenReport {
    /// A valid access token, refreshed if necessary.
    public static func accessToken(_ name: String, _ document: AccessTokenDocument = AccessTokenDocument()) -> Self {
        Self(.accessToken, name, document: document)
    }
}

extension SessionRequest where Answer == IDTokenReport {
    /// A valid ID token, refreshed if necessary.
    package static func idToken(_ name: String, _ document: IDTokenDocument = IDTokenDocument()) -> Self {
        Self(.idToken, name, document: document)
    }
}

extension SessionRequest where Answer == StoredTokenReport {
    /// Refreshes the tokens of a login now.
    package static func refreshToken(_ name: String) -> Self {
        Self(.refreshToken, name)
    }
}

extension SessionRequest where Answer == RevocationReport {
    /// Revokes the tokens of a login at the server.
    package static func revokeToken(_ name: String) -> Self {
        Self(.revokeToken, name)
    }

    /// Revokes the tokens of a login at the server, and removes the login.
    public static func logOut(_ name: String, _ document: LogoutDocument = LogoutDocument()) -> Self {
        Self(.logOut, name, document: document)
    }
}

extension SessionRequest where Answer == LoginReport {
    /// Begins a login.
    public static func beginLogin(_ document: LoginDocument) -> Self {
        Self(.beginLogin, document: document)
    }

    /// The state of a login.
    public static func login(_ id: String) -> Self {
        Self(.getLogin, id)
    }

    /// Completes a login with the URL that the browser was redirected to.
    public static func endLogin(_ id: String, redirectedTo url: String) -> Self {
        Self(.redirectLogin, id, document: RedirectDocument(url: url))
    }
}

extension SessionRequest where Answer == Void {
    /// Cancels a login.
    public static func cancelLogin(_ id: String) -> Self {
        Self(.endLogin, id)
    }
}

extension SessionRequest where Answer == AgentReport {
    /// Whether the service is locked.
    package static func agent() -> Self {
        Self(.agent)
    }

    /// Locks the service until the passphrase is given.
    package static func lockAgent(_ document: AgentPassphraseDocument) -> Self {
        Self(.lockAgent, document: document)
    }

    /// Unlocks the service.
    package static func unlockAgent(_ document: AgentPassphraseDocument) -> Self {
        Self(.unlockAgent, document: document)
    }
}
