package import CookieModel
import Platform

extension SessionDatabase {
    /// The size in bytes from which a write-ahead log is reported as large: SQLite empties it at about 4 MiB.
    private static let largeLogSize: Int64 = 64 << 20

    /// Checks everything: the file's structure, rows without owners, every sealed value, and the permissions of the
    /// files. Changes nothing.
    ///
    /// - Throws: an error of the store if the check itself fails. A damaged file that can be read is a finding, not an
    ///   error.
    package func check() throws(SessionStoreError) -> DatabaseCheck {
        var check = DatabaseCheck()
        check.findings += try structureFindings()
        check.findings += try orphanFindings()
        if try hasMissingKeys() {
            check.findings.append(
                DatabaseFinding(
                    .unreadable, keyRing.source.name,
                    "a key is not there that values may be sealed under; put it back before the newest one"))
        }
        try checkValues(&check)
        check.findings += fileFindings()
        if let finding = keyFinding(try keyUse()) { check.findings.append(finding) }
        return check
    }

    private func keyFinding(_ use: KeyUse) -> DatabaseFinding? {
        switch use {
        case .newest: return nil
        case .former, .several:
            if engine.traits.isShared {
                return DatabaseFinding(
                    .rotationUnfinished, isProblem: false, path,
                    "a newer key is not in use, or not everywhere\(command: ": 'crumb cluster rotate-key' finishes the rotation")"
                )
            }
            return use == .several
                ? DatabaseFinding(
                    .rotationUnfinished, isProblem: false, path,
                    "a key rotation was interrupted; \(app: "rotate the key again to finish it", command: "'crumb key rotate' finishes it")",
                    command: "key rotate")
                : DatabaseFinding(
                    .formerKey, isProblem: false, path,
                    "the values are sealed under a former key; "
                        + "\(app: "rotate the key to seal", command: "'crumb key rotate' seals") them under the newest one",
                    command: "key rotate")
        }
    }

    private func structureFindings() throws(SessionStoreError) -> [DatabaseFinding] {
        try read { database in
            do {
                return try database.structureFailures().map { line in
                    DatabaseFinding(.structure, path, "\(line); restore it from a backup")
                }
            } catch let failure as StoreFailure where failure.kind == .damaged {
                return [DatabaseFinding(.structure, path, "the file is damaged; restore it from a backup")]
            }
        }
    }

    /// The rows whose foreign key refers to a missing row. A server accepts no such rows.
    private static let orphanQuery = """
        SELECT "table", parent, count(*) AS number FROM pragma_foreign_key_check GROUP BY 1, 2 UNION ALL
        """

    private func orphanFindings() throws(SessionStoreError) -> [DatabaseFinding] {
        try read { database in
            return try database.statement(
                """
                \(engine.traits.mayHaveOrphans ? SessionDatabase.orphanQuery : "")
                SELECT 'cookie_change', 'jar', count(*) FROM cookie_change
                WHERE jar_id NOT IN (SELECT id FROM jar) HAVING count(*) > 0
                ORDER BY 1, 2
                """
            ).rows { row in
                let (table, parent, number) = (row.text(0), row.text(1), row.int64(2))
                return DatabaseFinding(
                    .orphan, "\(path), table \(table)",
                    "\(number == 1 ? "a row belongs" : "\(number) rows belong") to no \(parent)")
            }
        }
    }

    private func checkValues(_ check: inout DatabaseCheck) throws(SessionStoreError) {
        let (readable, unreadable) = try read { database in
            var readable = 0
            var unreadable: [SealedValueLocation] = []
            for table in SealedTable.allCases {
                try table.forEach(database) { value in
                    if sealer.open(value.sealed, at: value.place) == nil {
                        unreadable.append(value.location)
                    } else {
                        readable += 1
                    }
                }
            }
            return (readable, unreadable)
        }
        check.readableValues = readable
        check.findings += unreadable.map { location in
            DatabaseFinding(
                .unreadable, location.description,
                location.kind == .authority
                    ? StoredAuthority.damage : "the stored value was changed or moved; log in or import it again",
                location: location)
        }
    }

    private func fileFindings() -> [DatabaseFinding] {
        guard path != ":memory:" else { return [] }
        var findings: [DatabaseFinding] = []
        let keyFile = keyRing.source.file?.path
        for file in [path, "\(path)-wal", "\(path)-shm"] + (keyFile.map { [$0] } ?? []) {
            guard let permissions = FileSystem.permissions(file), permissions & 0o077 != 0 else { continue }
            findings.append(
                DatabaseFinding(.exposed, file, "other users can access this file; run: chmod 600 '\(file)'"))
        }
        for folder in Set(([path] + (keyFile.map { [$0] } ?? [])).map { FileSystem.folder(of: $0) }).sorted() {
            // With the sticky bit, as on /tmp, others can add files but not put theirs in the place of these.
            guard let permissions = FileSystem.permissions(folder), permissions & 0o022 != 0,
                permissions & 0o1000 == 0
            else { continue }
            findings.append(
                DatabaseFinding(
                    .exposed, folder, "other users can replace the files in this folder; run: chmod go-w '\(folder)'"))
        }
        for file in PrivateFile.temporaries(of: path) + (keyFile.map { PrivateFile.temporaries(of: $0) } ?? []) {
            findings.append(
                DatabaseFinding(.leftover, isProblem: false, file, "a killed process left this file behind; remove it"))
        }
        if let size = FileSystem.size("\(path)-wal"), size > SessionDatabase.largeLogSize {
            findings.append(
                DatabaseFinding(
                    .largeLog, isProblem: false, "\(path)-wal",
                    "the write-ahead log has \(size) bytes; "
                        + "\(app: "pruning", command: "'crumb prune'") empties it when no process is reading",
                    command: "prune"))
        }
        return findings
    }
}

/// The result of checking a database.
package struct DatabaseCheck: Sendable, Hashable {
    /// All findings, in the order of the checks.
    package var findings: [DatabaseFinding] = []
    /// How many sealed values were opened.
    package var readableValues = 0

    /// Whether no problem was found.
    package var isSound: Bool { !findings.contains(where: \.isProblem) }

    /// Creates a result without findings.
    package init() {}
}

/// A finding of a database check.
package struct DatabaseFinding: Sendable, Hashable {
    /// A stable identifier of a kind of finding.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        package let rawValue: String

        /// A code from its identifier.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// SQLite finds the file's structure damaged.
        package static let structure = Code(rawValue: "structure")
        /// A row belongs to a missing jar or saved session.
        package static let orphan = Code(rawValue: "orphan")
        /// A sealed value was changed, moved or truncated.
        package static let unreadable = Code(rawValue: "unreadable")
        /// Other users can access a file or folder.
        package static let exposed = Code(rawValue: "exposed")
        /// A rotation of the key was interrupted.
        package static let rotationUnfinished = Code(rawValue: "rotation-unfinished")
        /// The values are sealed under a former key of the key file.
        package static let formerKey = Code(rawValue: "former-key")
        /// A file was left behind by a process that was killed.
        package static let leftover = Code(rawValue: "leftover")
        /// The write-ahead log is large.
        package static let largeLog = Code(rawValue: "large-log")
    }

    /// The kind of problem.
    package let code: Code
    /// Whether the finding is a problem; otherwise it is only information.
    package let isProblem: Bool
    /// The affected file, table or value.
    package let subject: String
    /// The problem and its remedy, as part of a sentence.
    let detail: ErrorSentence
    /// The affected value; `nil` if the finding is not about a value.
    package let location: SealedValueLocation?
    /// The command of `crumb` that the remedy names, such as `key rotate`; `nil` if it names none.
    package let command: String?

    init(
        _ code: Code, isProblem: Bool = true, _ subject: String, _ detail: ErrorSentence,
        location: SealedValueLocation? = nil,
        command: String? = nil
    ) {
        self.code = code
        self.isProblem = isProblem
        self.subject = subject
        self.detail = detail
        self.location = location
        self.command = command
    }

    /// One sentence that names the subject and the remedy. Never contains a value.
    package var description: String { "\(subject): \(detail.text)" }
}

extension DatabaseFinding: CommandDescribed {
    package var commandDescription: String { "\(subject): \(detail.commandText)" }
}

/// The location of a sealed value, in the user's terms.
public struct SealedValueLocation: Sendable, Hashable, CustomStringConvertible {
    /// The kind of value.
    package enum Kind: String, Sendable {
        /// A cookie of a jar.
        case cookie
        /// A cookie of a saved session.
        case savedCookie = "saved-cookie"
        /// An OAuth2 token.
        case token
        /// A header field of a jar.
        case headerField = "header-field"
        /// An item of `localStorage`, in a jar or one of its saved sessions.
        case webStorage = "web-storage"
        /// The private key of the gateway's authority.
        case authority = "gateway-authority"
    }

    /// The kind of value.
    package let kind: Kind
    /// The jar's name; `nil` for a token or authority, and for a value whose jar is missing.
    package let jar: String?
    /// The name of the saved session or of the token's profile, the prefix of a header field's URLs, the origin of an
    /// item of web storage, or the hosts of the authority.
    package let owner: String?
    /// The cookie's domain; empty for other values.
    package let domain: Octets
    /// The cookie's path; empty for other values.
    package let path: Octets
    /// The cookie's or field's name, an item's key, or the kind of the profile's token.
    package let name: Octets

    /// The value's location for a message. Never the value.
    public var description: String {
        let cookie = "'\(name)' of \(domain)\(path)"
        let jarText = jar.map { "jar '\($0)'" } ?? "a missing jar"
        switch kind {
        case .cookie: return "cookie \(cookie) in \(jarText)"
        case .savedCookie: return "cookie \(cookie) in saved session '\(owner ?? "")' of \(jarText)"
        case .headerField: return "header field '\(name)' for \(owner ?? "all URLs") in \(jarText)"
        case .webStorage: return "localStorage item '\(name)' of \(owner ?? "") in \(jarText)"
        case .authority: return "\(name) of the gateway's authority for \(owner ?? "")"
        case .token: return "\(name) of '\(owner ?? "")'"
        }
    }
}
