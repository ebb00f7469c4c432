package import CookieModel
package import OAuth2

/// The steps of a refresh that change a profile, each in one transaction.
extension TokenStore {
    /// Takes the lease of a profile, unless another holder's lease is still valid.
    ///
    /// - Parameters:
    ///   - resource: what the access token is for; `nil` for the login's own.
    ///   - liveness: determines which holders have ended.
    /// - Returns: the present profile. Earlier copies may be outdated.
    func takeLease(
        _ name: String, resource: String? = nil, for holder: LeaseHolder, until expiry: Timestamp,
        liveness: ProcessLiveness = .none, now: Timestamp
    ) throws(SessionStoreError) -> LeaseOutcome {
        try database.write(.profile(name)) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name), let stored = try rows.tokens(named: name).first else {
                throw TokenStore.notFound(name)
            }
            func token() throws -> StoredToken {
                let token = try stored.get()
                return if let resource { try rows.view(token, for: resource) } else { token }
            }
            let leases = TokenLeaseRows(database: connection)
            let lead = try connection.clockLead(over: now)
            if let held = try leases.lease(row.id), held.holder != holder,
                held.isBelieved(at: now.advanced(byMicroseconds: lead)), !held.holder.hasEnded(by: liveness)
            {
                return .held(try token(), until: held.expiry.advanced(byMicroseconds: -lead))
            }
            try leases.put(row.id, holder, expiry.advanced(byMicroseconds: lead))
            return .taken(try token())
        }
    }

    /// Renews a lease.
    ///
    /// - Returns: whether the holder still had the lease.
    @discardableResult
    func renewLease(
        _ name: String, of holder: LeaseHolder, until expiry: Timestamp, now: Timestamp
    ) throws(SessionStoreError) -> Bool {
        try database.write(.profile(name)) { connection in
            let lead = try connection.clockLead(over: now)
            return try TokenLeaseRows(database: connection).renew(
                name, holder, expiry.advanced(byMicroseconds: lead))
        }
    }

    /// Releases a lease.
    func releaseLease(_ name: String, of holder: LeaseHolder) throws(SessionStoreError) {
        try database.write(.profile(name)) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name) else { return }
            try TokenLeaseRows(database: connection).release(row.id, holder)
        }
    }

    /// Stores a refresh token that replaces the stored one, before the rest of the reply is processed.
    ///
    /// It is stored even if the server has meanwhile rejected another request with the same old refresh token: the new
    /// token is newer than that rejection.
    ///
    /// - Parameter sent: the refresh token for which the server sent it.
    /// - Returns: the new generation; `nil` if the profile was changed meanwhile, and nothing was written.
    func rotate(
        _ refreshToken: Secret, of name: String, for sent: Secret?, expectedGeneration: Int64, now: Timestamp
    ) throws(SessionStoreError) -> Int64? {
        try database.write(.profile(name)) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name) else { return nil }
            if row.generation != expectedGeneration {
                let stored = try? rows.tokens(named: name).first?.get()
                guard let sent, stored?.tokens.refreshToken == sent else { return nil }
            }
            try rows.rotate(refreshToken, id: row.id)
            try TokenChangeRows(database: connection).append(
                .rotated, name, generation: row.generation + 1, now: now)
            return row.generation + 1
        }
    }

    /// Records when a refresh token ends, as reported by the server (RFC 7662).
    ///
    /// - Returns: whether the profile still has that refresh token; if not, nothing was written.
    @discardableResult
    package func noteExpiry(
        _ expiry: Timestamp, ofRefreshToken token: Secret, of name: String
    ) throws(SessionStoreError) -> Bool {
        try database.write(.profile(name)) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name),
                try rows.tokens(named: name).first?.get().tokens.refreshToken == token
            else { return false }
            try rows.noteExpiryOfRefreshToken(expiry, id: row.id)
            return true
        }
    }

    /// Marks an access token that a site did not accept as expired, so that the next caller renews it.
    ///
    /// A token that cannot be renewed is not changed, because it may still be valid elsewhere.
    ///
    /// - Parameter token: The token that was not accepted; `nil` for the one that is stored.
    /// - Returns: Whether the profile has that token, and it can be renewed; if not, nothing was written.
    @discardableResult
    package func expireAccessToken(
        _ token: Secret?, of name: String, now: Timestamp? = nil
    ) throws(SessionStoreError) -> Bool {
        let now = now ?? database.clock.now
        return try database.write(.profile(name)) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name), let stored = try rows.tokens(named: name).first?.get() else {
                throw TokenStore.notFound(name)
            }
            let isRenewable =
                try stored.isRefreshable(at: now)
                || rows.credentials(named: name)?.settings.grant == .clientCredentials
            guard isRenewable, token == nil || token == stored.tokens.accessToken else { return false }
            try rows.expireAccessToken(at: min(stored.tokens.accessTokenExpiry ?? now, now), id: row.id)
            return true
        }
    }

    /// Records that the server no longer accepts the grant. The tokens stay, because a server can be wrong.
    ///
    /// - Returns: whether the profile was unchanged; if not, nothing was written.
    func refuse(
        _ name: String, expectedGeneration: Int64, releasing holder: LeaseHolder, now: Timestamp
    ) throws(SessionStoreError) -> Bool {
        try database.write(.profile(name)) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name) else { throw TokenStore.notFound(name) }
            try TokenLeaseRows(database: connection).release(row.id, holder)
            guard row.generation == expectedGeneration else { return false }
            try rows.refuse(id: row.id, now: now)
            try TokenChangeRows(database: connection).append(
                .refused, name, generation: row.generation + 1, now: now)
            return true
        }
    }

    /// Stops automatic renewal of all logins with a refresh token, until each was renewed on request or logged in
    /// again. For a database that was restored to an earlier state: a server that rotates refresh tokens may end a
    /// login if it receives a former one again (RFC 9700, section 4.14.2).
    ///
    /// Access tokens that have not expired are used as before. Logins that were in progress are removed: their codes may
    /// have been redeemed.
    ///
    /// - Returns: the names of the logins, in order, without those that the server has rejected before.
    /// - Complexity: O(*n* log *n*), where *n* is the number of logins.
    package func quarantine(now: Timestamp) throws(SessionStoreError) -> [String] {
        try database.write(.profiles) { connection in
            let logins = try TokenRows(database: connection, sealer: database.sealer).quarantine(now: now)
                .sorted { $0.name < $1.name }
            let changes = TokenChangeRows(database: connection)
            if connection.traits.isShared {
                try PendingLoginRows(database: connection, sealer: database.sealer).removeAll()
            }
            for login in logins { try changes.append(.quarantined, login.name, generation: login.generation, now: now) }
            return logins.map(\.name)
        }
    }

    /// Returns the holder of the lease on a profile; `nil` without a lease that is still valid.
    package func lease(_ name: String, now: Timestamp? = nil) throws(SessionStoreError) -> LeaseHolder? {
        let now = now ?? database.clock.now
        return try database.read { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name),
                let lease = try TokenLeaseRows(database: connection).lease(row.id),
                lease.isBelieved(at: now.advanced(byMicroseconds: try connection.clockLead(over: now)))
            else { return nil }
            return lease.holder
        }
    }
}

/// The result of an attempt to take a lease.
enum LeaseOutcome {
    /// The caller has the lease. The value is the present profile.
    case taken(StoredToken)
    /// Another process has the lease. The value is the present profile.
    case held(StoredToken, until: Timestamp)
}

extension Timestamp {
    /// The time on a clock that is ahead of this one.
    fileprivate func advanced(byMicroseconds lead: Int64) -> Timestamp {
        Timestamp(microseconds: microseconds.addingReportingOverflow(lead).partialValue)
    }
}
