import OAuth2
import SessionStore
import WebPrimitives

/// The calls of a plan that read the store. They block, so a plan makes them on a thread of the store.
extension TokenLoginRequest {
    /// A stored login, with the settings that it was made with.
    struct Earlier {
        let profile: ProfileID
        let credentials: ProfileCredentials
        let user: LoggedInUser

        /// Whether the account is one that the user has named. Logins from before that was noted have another account
        /// than their ID token says if it is.
        var namesAccount: Bool {
            credentials.settings.namesAccount ?? (!profile.account.isEmpty && profile.account != user.subject)
        }
    }

    /// What the stored logins add to the request.
    struct Known {
        /// The last login under the name.
        let own: Earlier?
        /// The login whose values count if the request leaves them out: the last one, or the one that is exchanged.
        let earlier: Earlier?
        let grant: ProfileSettings.Grant
        let exchange: ProfileSettings.Exchange?
        /// The login that is exchanged.
        let subject: Profile?

        /// The account of an exchanged token: the owner and the target, so that each token has a profile of its own.
        /// `nil` if nothing is exchanged.
        func account(exchangedWith settings: ProfileSettings) -> String? {
            guard let exchange, let subject else { return nil }
            let owner = subject.id.account.isEmpty ? subject.name : subject.id.account
            let targets = exchange.audiences + settings.resources + (settings.scopes.map { [$0] } ?? [])
            let actor = exchange.actor.map { " by \($0)" } ?? ""
            return (targets.isEmpty ? owner : "\(owner) for \(targets.joined(separator: " "))") + actor
        }
    }

    /// Reads the logins that the request builds on.
    ///
    /// - Throws: `LoginError` if the request names no login to exchange, `SessionStoreError` if such a login is missing.
    func known(in store: TokenStore) throws -> Known {
        let own = try earlier(named: name, in: store)
        let grant = grant(after: own)
        guard grant == .tokenExchange else {
            return Known(own: own, earlier: own, grant: grant, exchange: nil, subject: nil)
        }
        guard let exchange = exchange ?? own?.credentials.settings.exchange else {
            throw LoginError(.settingsInvalid, "\(name): name the login to exchange with --exchange")
        }
        let profiles = try exchange.logins.map { try store.get($0).profile }
        // An exchange is made by the client and at the server of the login that is exchanged, unless it names others.
        let earlier = try own ?? (isSameServer ? exchanged(exchange, in: store) : nil)
        return Known(own: own, earlier: earlier, grant: grant, exchange: exchange, subject: profiles.first)
    }

    /// Whether the server is the one of the last login.
    var isSameServer: Bool { issuer == nil && endpoints.isEmpty }

    /// The grant of the request, else the one of the last login. Imported tokens come from no grant.
    func grant(after earlier: Earlier?) -> ProfileSettings.Grant {
        let last = earlier?.credentials.settings.grant
        return grant ?? (last == .imported ? nil : last) ?? .authorizationCode
    }

    /// The settings of a login; `nil` if no login has the name, or if it was tampered with and can only be replaced.
    func earlier(named name: String, in store: TokenStore) throws -> Earlier? {
        do throws(SessionStoreError) {
            let stored = try store.get(name)
            return try store.credentials(name).map { credentials in
                Earlier(
                    profile: stored.profile.id, credentials: credentials,
                    user: LoggedInUser(account: stored.profile.id.account, stored.tokens))
            }
        } catch {
            guard error.code == .tokenNotFound || error.code == .valueDamaged else { throw error }
            return nil
        }
    }

    /// The server and the client that an exchange takes over from the login that it exchanges.
    private func exchanged(_ exchange: ProfileSettings.Exchange, in store: TokenStore) throws -> Earlier? {
        guard let subject = try earlier(named: exchange.subject, in: store) else { return nil }
        var credentials = ProfileCredentials(
            settings: subject.credentials.settings, clientSecret: subject.credentials.clientSecret,
            clientCertificate: subject.credentials.clientCertificate)
        credentials.settings.scopes = nil
        credentials.settings.resources = []
        credentials.settings.redirectURI = nil
        credentials.settings.parameters = []
        credentials.settings.pushesRequests = nil
        return Earlier(profile: subject.profile, credentials: credentials, user: subject.user)
    }

    /// Checks before the login that the tokens can be stored under the name and renewed. A failure after the login would
    /// waste the user's effort.
    func check(_ profile: ProfileID, _ settings: ProfileSettings, in store: TokenStore) throws {
        try store.checkExchange(settings, of: name)
        // An ID token may still tell that the account is another one.
        guard settings.scopes.map({ Scopes(parsing: $0).contains("openid") }) != true else { return }
        let others = try store.logins(by: profile, settings).map(\.profile)
        guard let other = others.first(where: { $0.id.account == profile.account && $0.name != name }) else { return }
        throw LoginError(
            .nameInvalid,
            advice: "\(name): the login of the same server, client and account is stored as '\(other.name)'; "
                + "\(app: "log in under that name", command: "name another account, as with --account")")
    }
}

extension TokenStore {
    /// The stored logins by the same client at the same server, whichever account they are for.
    ///
    /// Without an issuer, the origin of the token endpoint tells which server it is.
    func logins(by profile: ProfileID, _ settings: ProfileSettings) throws(SessionStoreError) -> [StoredToken] {
        try all().compactMap { try? $0.get() }.filter { stored in
            let id = stored.profile.id
            guard id.issuer == profile.issuer, id.clientID == profile.clientID else { return false }
            return !id.issuer.isEmpty
                || (try? credentials(stored.profile.name))?.settings.tokenOrigin == settings.tokenOrigin
        }
    }
}
