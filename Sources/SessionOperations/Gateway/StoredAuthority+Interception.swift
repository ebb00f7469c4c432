package import CookieModel
package import GatewayModel
package import SessionStore

extension StoredAuthority {
    /// Returns the authority of a database that clients trust for these hosts.
    ///
    /// - Parameters:
    ///   - member: The member or option that names the hosts, for the error.
    ///   - alternative: An alternative, to be appended to the next step.
    /// - Throws: `OperationError` if no authority is stored, if it has expired, or if it does not cover one of the hosts.
    package static func forInterception(
        of patterns: [HostPattern], in database: SessionDatabase, member: String, alternative: String = "",
        now: Timestamp
    ) throws -> StoredAuthority {
        let hosts = patterns.map(\.host)
        guard let authority = try database.authority() else {
            throw OperationError(
                .gatewayNotStarted,
                "\(member): the database has no authority for the gateway. Run '\(creation(for: hosts))'\(alternative)")
        }
        guard !authority.isExpired(at: now) else {
            throw OperationError(
                .gatewayNotStarted,
                "\(member): the gateway's authority expired at \(authority.expiry.rfc3339): "
                    + authority.replacement(for: authority.hosts))
        }
        if let host = hosts.first(where: { !authority.covers($0) }) {
            throw OperationError(
                .gatewayNotStarted,
                "\(member) \(host): the gateway's authority is only for \(authority.hostList): "
                    + "\(authority.replacement(for: authority.hosts + [host]))\(alternative)")
        }
        return authority
    }

    /// The next step that replaces the authority by one for these hosts.
    package func replacement(for hosts: [WebHost]) -> String {
        "run 'crumb gateway ca remove' and '\(StoredAuthority.creation(for: hosts))', and let the clients trust the new one"
    }

    /// The command that creates an authority for these hosts.
    private static func creation(for hosts: [WebHost]) -> String {
        // A shell would take brackets for a pattern.
        let words = hosts.map(\.description).map { $0.contains("[") ? "'\($0)'" : $0 }
        return "crumb gateway ca create" + Set(words.map { " --host \($0)" }).sorted().joined()
    }
}
