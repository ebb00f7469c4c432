import Platform
public import WebPrimitives

/// A failure of a session database or its key: a stable code, the file, and one sentence that a user can act on.
///
/// Never holds a cookie's value, a token or a key.
public struct SessionStoreError: DescribedError, Hashable, Sendable {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The file is not an SQLite database, or belongs to another program.
        package static let databaseForeign = Code(rawValue: "database-foreign")
        /// The database was written by a newer version of the program.
        public static let databaseNewer = Code(rawValue: "database-newer")
        /// The database was written by a pre-release of the program.
        package static let databasePrerelease = Code(rawValue: "database-prerelease")
        /// The file cannot be opened or created.
        public static let databaseUnavailable = Code(rawValue: "database-unavailable")
        /// The file may be read but not written.
        public static let databaseReadOnly = Code(rawValue: "database-read-only")
        /// Another process held the database for longer than the busy timeout.
        public static let databaseBusy = Code(rawValue: "database-busy")
        /// The database server cannot be reached, does not answer, or is no longer the primary.
        package static let databaseUnreachable = Code(rawValue: "database-unreachable")
        /// The server may have been replaced as the primary, or has just become it.
        package static let databaseFenced = Code(rawValue: "database-fenced")
        /// The connection to the server was lost during a commit: it is unknown whether the change was stored.
        package static let commitUnknown = Code(rawValue: "commit-unknown")
        /// The disk is full.
        public static let diskFull = Code(rawValue: "disk-full")
        /// The file's content is damaged.
        public static let databaseDamaged = Code(rawValue: "database-damaged")
        /// SQLite failed in another way.
        package static let databaseFailed = Code(rawValue: "database-failed")
        /// The database has sealed values, and its key is missing.
        public static let keyMissing = Code(rawValue: "key-missing")
        /// The key is not the one that the database was sealed with.
        public static let keyWrong = Code(rawValue: "key-wrong")
        /// The key file cannot be read or created, or does not contain a key.
        public static let keyUnavailable = Code(rawValue: "key-unavailable")
        /// The key file can be read by others.
        package static let keyExposed = Code(rawValue: "key-exposed")
        /// The key is locked: with a passphrase that was not given, or by the system that keeps it.
        public static let keyLocked = Code(rawValue: "key-locked")
        /// The key was rotated while the database was open, and the new one is missing.
        package static let keyChanged = Code(rawValue: "key-changed")
        /// Another process is changing the keys, or this program cannot change them.
        public static let keyRotationRefused = Code(rawValue: "key-rotation-refused")
        /// The file to create exists already.
        public static let fileExists = Code(rawValue: "file-exists")
        /// A file cannot be written.
        public static let fileNotWritten = Code(rawValue: "file-not-written")
        /// A sealed value was changed, moved or cut off.
        public static let valueDamaged = Code(rawValue: "value-damaged")
        /// There is no jar of that name.
        public static let jarNotFound = Code(rawValue: "jar-not-found")
        /// A jar of that name exists already.
        public static let jarExists = Code(rawValue: "jar-exists")
        /// There is no saved session of that name.
        package static let sessionNotFound = Code(rawValue: "session-not-found")
        /// The name is not allowed for a jar, saved session or token profile.
        public static let nameInvalid = Code(rawValue: "name-invalid")
        /// The database cannot store the text.
        package static let textInvalid = Code(rawValue: "text-invalid")
        /// There is no token of that name.
        public static let tokenNotFound = Code(rawValue: "token-not-found")
        /// The database has an authority for the gateway already.
        public static let authorityExists = Code(rawValue: "authority-exists")
    }

    /// The kind of failure.
    public let code: Code
    /// The file, jar or name that failed.
    public let subject: String
    /// The cause and the next step, as part of a sentence.
    package let detail: ErrorSentence

    package init(_ code: Code, _ subject: String, _ detail: String) {
        self.init(code, subject, advice: ErrorSentence(detail))
    }

    /// - Parameter advice: The cause and the next step, which names commands for their users.
    package init(_ code: Code, _ subject: String, advice: ErrorSentence) {
        self.code = code
        self.subject = subject
        detail = advice
    }

    /// An error of a source or store of your own, such as a locked keychain.
    ///
    /// ```swift
    /// throw SessionStoreError(code: .keyLocked, subject: "the keychain", reason: "it is locked; unlock the device")
    /// ```
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - subject: The file, key or name that failed.
    ///   - reason: The cause and the next step, as part of a sentence without a full stop. Never include a secret.
    public init(code: Code, subject: String, reason: String) {
        self.init(code, subject, reason)
    }

    /// One sentence that names the subject and what to do.
    public var description: String {
        "\(subject): \(detail.text)"
    }

    /// Throws if a name is not allowed for a jar or token.
    package static func check(_ name: String, of owner: String) throws(SessionStoreError) {
        // Names are also segments of URLs, and clients resolve `.` and `..` there (RFC 3986, section 5.2.4). A hundred
        // characters can have any number of octets; a server's index accepts this many.
        guard (1...100).contains(name.count), name.utf8.count <= 2500, name != ".", name != "..",
            name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else {
            throw SessionStoreError(
                .nameInvalid, "the \(owner)'s name",
                "use 1 to 100 characters in up to 2500 octets, no control characters, not '.' or '..'")
        }
    }
}

extension SessionStoreError: CommandDescribed {
    package var commandDescription: String { "\(subject): \(detail.commandText)" }
}

extension String {
    /// Whether both names belong to the same jar or login.
    ///
    /// Names are octets. `==` is also true for different octets that look alike (Unicode's canonical equivalence), and
    /// dictionaries and sets compare in the same way.
    package func isSameName(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

extension SessionStoreError {
    /// Rejects a path that no backup or export can be written to.
    ///
    /// - Parameters:
    ///   - own: The files of the database, which are never replaced.
    ///   - replacing: Whether an existing file is replaced.
    package static func checkDestination(
        _ path: String, sparing own: [String], replacing: Bool
    ) throws(SessionStoreError) {
        if FileSystem.isFolder(path) {
            throw SessionStoreError(.fileNotWritten, path, "this is a folder; name a file in it")
        }
        if own.contains(where: { FileSystem.isSame($0, path) }) {
            throw SessionStoreError(.fileExists, path, "this is the database itself or its key file; name another file")
        }
        if !replacing, !FileSystem.isSpecial(path), FileSystem.permissions(path) != nil {
            throw notWritten(path, EEXIST)
        }
    }

    /// The error for a file that cannot be written. Its folder is not created: a wrong path is more likely than a missing
    /// folder.
    ///
    /// - Parameter failure: The `errno`.
    package static func notWritten(_ path: String, _ failure: Int32) -> SessionStoreError {
        switch failure {
        case ENOSPC:
            SessionStoreError(.diskFull, path, "the disk is full; free some space and try again")
        case EEXIST:
            SessionStoreError(
                .fileExists, path,
                advice: "the file already exists; name another one\(command: ", or use --force")")
        case ENOENT:
            SessionStoreError(
                .fileNotWritten, path, "the folder \(FileSystem.folder(of: path)) does not exist; create it first")
        default:
            SessionStoreError(.fileNotWritten, path, "the file cannot be written: \(SystemError(failure).message)")
        }
    }

    /// The error for a database that a pre-release wrote.
    ///
    /// - Parameter schema: the newest migration that was applied.
    package static func prerelease(_ database: String, schema: String) -> SessionStoreError {
        SessionStoreError(
            .databasePrerelease, database,
            "a pre-release of crumb wrote the database (schema \(schema)), which this version cannot use; nothing was "
                + "changed. Export its jars with that pre-release, import them into a new database, and log in again")
    }

    /// Runs `body` and turns failures of an engine into errors of the store. They do not contain the engine's own
    /// message, because it may quote a statement.
    package static func catching<Result>(
        _ path: String, _ body: () throws -> Result
    ) throws(SessionStoreError) -> Result {
        do {
            return try body()
        } catch let error as SessionStoreError {
            throw error
        } catch let error as StoreFailure {
            throw SessionStoreError(error, path)
        } catch {
            throw SessionStoreError(.databaseFailed, path, "the database cannot be used")
        }
    }

    private init(_ failure: StoreFailure, _ path: String) {
        let code = failure.code
        switch failure.kind {
        case .notADatabase:
            self.init(.databaseForeign, path, "this file is not a database; nothing was changed")
        case .damaged:
            self.init(
                .databaseDamaged, path,
                "the database is damaged (\(failure.engine) code \(code)); restore it from a backup")
        case .full:
            self.init(.diskFull, path, "the disk is full; no stored data is lost. Free some space and try again")
        case .inputOutput:
            self.init(
                .databaseFailed, path,
                "reading or writing the file failed (\(failure.engine) code \(code)); check the disk and its free space"
            )
        case .readOnly:
            self.init(
                .databaseReadOnly, path,
                "the database cannot be written; check the permissions of the file and its folder")
        case .notOpened:
            self.init(
                .databaseUnavailable, path,
                "the file cannot be opened; check the permissions of the file and its folder")
        case .busy, .undone:
            self.init(.databaseBusy, path, "another process is using the database; try again in a moment")
        case .orphan:
            self.init(
                .jarNotFound, "the jar",
                advice: "it was removed\(command: "; 'crumb jars' lists the jars")")
        case .unstorableText:
            self.init(.textInvalid, "a text", "it contains U+0000, which the database cannot store; remove it")
        case .oversizedKey:
            self.init(
                .textInvalid, "a name, path or key",
                "it is too long for an index of the database, which takes about 2,600 octets for all that identifies "
                    + "an entry; shorten it, or leave it out")
        case .unavailable:
            self.init(.databaseUnreachable, path, "the database server cannot be used (\(code)); try again in a moment")
        case .fenced:
            self.init(
                .databaseFenced, path,
                "the database server does not answer as the primary (\(code)); try again in a moment")
        case .refused:
            self.init(
                .databaseUnavailable, path,
                "the database server refuses the connection or the statement (\(code)); check the URL, the "
                    + "user, its password file and its rights")
        case .pooled:
            self.init(
                .databaseUnavailable, path,
                "the connection goes through a pooler such as pgbouncer, whose clients share the server's connections: "
                    + "prepared statements and settings would be lost; connect to the servers themselves. Several "
                    + "hosts can be named in the URL")
        case .schemaMissing:
            self.init(
                .databaseUnavailable, path,
                advice: "the database has no schema; \(app: "create it first", command: "run 'crumb cluster create'")")
        case .unknownCommit:
            self.init(
                .commitUnknown, path,
                "the connection was lost during the commit; the change may be stored or not. Read it back")
        case .clientLibraryMissing:
            self.init(
                .databaseUnavailable, path,
                "PostgreSQL's client library (libpq.so.5) is not installed; install the package libpq5")
        case .other:
            self.init(.databaseFailed, path, "\(failure.engine) failed (code \(code))")
        }
    }
}
