public import CookieModel
internal import Crypto
package import OAuth2

/// The certificate authority of a gateway as a database stores it: the private key is sealed.
public struct StoredAuthority: Sendable, Equatable {
    /// The hosts that it may sign for, subdomains included.
    public let hosts: [WebHost]
    /// Its certificate in PEM, for the trust stores of clients.
    public let certificatePEM: String
    /// Its private key, in the form that the creator of the authority reads.
    package let privateKey: Secret
    /// When it was created.
    package let creation: Timestamp
    /// When it ends.
    public let expiry: Timestamp

    /// Creates an authority from its parts.
    package init(
        hosts: [WebHost], certificatePEM: String, privateKey: Secret, creation: Timestamp, expiry: Timestamp
    ) {
        self.hosts = hosts
        self.certificatePEM = certificatePEM
        self.privateKey = privateKey
        self.creation = creation
        self.expiry = expiry
    }

    /// Whether it may sign for a host: one of its hosts, or a name below one.
    package func covers(_ host: WebHost) -> Bool {
        hosts.contains { CookiePolicy.domainMatches(host, $0.octets) }
    }

    /// Whether it has expired.
    public func isExpired(at now: Timestamp) -> Bool { expiry <= now }

    /// The hosts with spaces between them.
    package var hostList: String { hosts.map(\.description).joined(separator: " ") }

    /// The SHA-256 fingerprint of the certificate, as browsers and `openssl x509 -fingerprint` write it.
    package var fingerprint: String {
        let octets = PEMText.contents(of: "CERTIFICATE", in: certificatePEM) ?? []
        return SHA256.hash(data: octets).map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined(separator: ":")
    }

    /// The advice for a stored authority that cannot be read, as part of a sentence.
    static let damage: ErrorSentence =
        "the stored authority was changed or moved; remove it\(command: " with 'crumb gateway ca remove'") and create another"
}

extension SessionDatabase {
    /// Stores the authority of the gateway. A database has at most one.
    ///
    /// - Throws: `SessionStoreError.Code.authorityExists` if the database has one, which then stays.
    public func addAuthority(_ authority: StoredAuthority) throws(SessionStoreError) {
        try write { connection in
            let row = AuthorityRow(database: connection)
            if let present = try row.read() {
                throw SessionStoreError(
                    .authorityExists, path, "the database already has an authority for \(present.hosts)")
            }
            try row.insert(authority, sealer)
        }
    }

    /// The authority of the gateway; `nil` if the database has none.
    ///
    /// - Throws: `SessionStoreError.Code.valueDamaged` if its row was changed.
    public func authority() throws(SessionStoreError) -> StoredAuthority? {
        try read { connection in
            guard let row = try AuthorityRow(database: connection).read() else { return nil }
            guard let key = sealer.open(row.sealedKey, at: row.place) else {
                throw SessionStoreError(.valueDamaged, path, advice: StoredAuthority.damage)
            }
            return StoredAuthority(
                hosts: row.hosts.split(separator: " ").map { WebHost(stored: Octets(String($0))) },
                certificatePEM: row.certificate, privateKey: Secret(key), creation: row.creation, expiry: row.expiry)
        }
    }

    /// Removes the authority of the gateway, even if it cannot be read.
    ///
    /// - Returns: Whether it existed.
    public func removeAuthority() throws(SessionStoreError) -> Bool {
        try write { try AuthorityRow(database: $0).delete() }
    }
}

/// The row of the `gateway_authority` table, its key sealed to all its other columns.
struct AuthorityRow {
    /// The row as it is stored.
    struct Contents {
        let hosts: String
        let certificate: String
        let sealedKey: Octets
        let creation: Timestamp
        let expiry: Timestamp

        /// The context that the key is sealed to.
        var place: [UInt8] { AuthorityRow.place(hosts, certificate, creation, expiry) }
    }

    let database: Connection

    func read() throws -> Contents? {
        try database.statement(
            "SELECT hosts, certificate, private_key, created_at, expires_at FROM gateway_authority"
        ).first { row in
            Contents(
                hosts: row.text(0), certificate: row.text(1), sealedKey: Octets(row.bytes(2)),
                creation: row.timestamp(3), expiry: row.timestamp(4))
        }
    }

    func insert(_ authority: StoredAuthority, _ sealer: Sealer) throws {
        let place = AuthorityRow.place(
            authority.hostList, authority.certificatePEM, authority.creation, authority.expiry)
        try database.statement(
            """
            INSERT INTO gateway_authority (id, hosts, certificate, private_key, created_at, expires_at)
            VALUES (1, ?, ?, ?, ?, ?)
            """
        ).run(
            authority.hostList, authority.certificatePEM, try sealer.seal(authority.privateKey.exposedBytes, at: place),
            authority.creation, authority.expiry)
    }

    /// Replaces the key that was read by the resealed one.
    func replaceKey(with sealed: [UInt8], insteadOf old: Octets) throws {
        try database.statement("UPDATE gateway_authority SET private_key = ? WHERE private_key = ?").run(sealed, old)
    }

    func delete() throws -> Bool {
        try database.statement("DELETE FROM gateway_authority").runCounting() > 0
    }

    private static func place(
        _ hosts: String, _ certificate: String, _ creation: Timestamp, _ expiry: Timestamp
    ) -> [UInt8] {
        var place = SealedPlace("gateway authority")
        place.append(hosts.utf8)
        place.append(certificate.utf8)
        place.append(creation.microseconds)
        place.append(expiry.microseconds)
        return place.bytes
    }
}
