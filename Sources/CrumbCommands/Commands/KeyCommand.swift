import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the key that seals the database.",
        discussion: """
            The key comes from CRUMB_KEY, in base64, else from the key file that CRUMB_KEY_FILE names. During a rotation \
            CRUMB_KEY holds both keys, with a comma between. A passphrase can lock the key file: it comes from the file \
            that CRUMB_PASSPHRASE_FILE names, else from the terminal, never from the command line, which others can see.
            """,
        subcommands: [KeyStatusCommand.self, KeyRotateCommand.self, KeyPassphraseCommand.self])
}

struct KeyStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show where the key comes from, whether it is locked, and whether a rotation is unfinished.",
        aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        try database.requireFile(onServer: "'crumb cluster status' says whether a rotation on a server is unfinished.")
        let location = KeyLocation()
        var report = KeyStatusReport(
            source: try location.name(), isFile: !location.isInEnvironment, database: try database.path())
        if !location.isInEnvironment, let state = try location.file().state() {
            report.keys = state.keyCount
            report.locked = state.isLocked
        }
        do {
            report.rotationUnfinished = try database.openIfPresent(now: console.now)?.isRotationPending()
        } catch let error as SessionStoreError where error.code == .keyLocked {
            // All else is known without the passphrase.
            report.hasDatabase = true
        }
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}

private struct KeyStatusReport: Encodable {
    let source: String
    let isFile: Bool
    let database: String
    var keys: Int?
    var locked: Bool?
    /// `nil` if there is no database, or the key is locked.
    var rotationUnfinished: Bool?
    /// Whether there is a database that the locked key keeps closed.
    var hasDatabase = false

    enum CodingKeys: CodingKey {
        case source, isFile, database, keys, locked, rotationUnfinished
    }

    var text: String {
        var file = "not created yet"
        if let keys, let locked {
            file = "\(keys == 1 ? "one key" : "\(keys) keys"), \(locked ? "locked with a passphrase" : "in the clear")"
        }
        var rotation = rotationUnfinished.map { $0 ? "unfinished: run 'crumb key rotate'" : "none in progress" }
        if hasDatabase {
            rotation = "unknown while the key is locked: name the file with the passphrase in CRUMB_PASSPHRASE_FILE"
        }
        return Console.table([
            [isFile ? "key file" : "environment", isFile ? "\(source) (\(file))" : source],
            ["database", database + (rotation == nil ? " (not created yet)" : "")],
            ["rotation", rotation ?? "none in progress"],
        ])
    }
}

struct KeyRotateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Create a new key and seal every value under it.",
        discussion: """
            Other processes can use the database in the meantime. If the rotation is interrupted, everything stays readable, and \
            the next 'crumb key rotate' finishes it. It then removes the old key from the key file: older backups, and \
            other databases under the same key file, need --keep-old-keys. With CRUMB_KEY, append the new key to the old \
            one, with a comma between.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Keep the old keys in the key file for backups and other databases. The next rotation removes them.")
    var keepOldKeys = false

    func execute(_ console: Console) throws {
        try database.requireFile(onServer: "Rotate the key of a database on a server with 'crumb cluster rotate-key'.")
        guard let opened = try database.openExisting(now: console.now) else {
            throw Problem(
                .databaseUnavailable, "\(try database.path()): there is no database, so there is nothing to rotate")
        }
        let other = keepOldKeys ? nil : try otherDatabase()
        let rotation = try opened.rotateKey(keepingOldKeys: keepOldKeys || other != nil, now: console.now)
        if output.json {
            try console.writeJSON(KeyRotationReport(rotation))
        } else {
            let verb = rotation.wasResumed ? "finished a rotation" : "rotated the key"
            try console.writeLine("\(verb): \(rotation.resealed) values resealed")
        }
        rotation.reportUnreadable(console)
        if let other { console.note("the old key stays in the key file: \(other) may need it; rotate there too") }
        if try KeyLocation().isLocked() {
            console.note(
                "the key is locked: a running service that was started without CRUMB_PASSPHRASE_FILE can no "
                    + "longer open the database; restart it with that variable")
        }
        if rotation.oldKeysDropped {
            console.note("the old key is removed: earlier backups cannot be opened without it")
        }
        if !rotation.isLogEmpty {
            console.note(
                "another process is reading: until it has finished, the write-ahead log contains values under "
                    + "the old key")
        }
        if !rotation.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }

    /// Another database of the user that is sealed with the same key file: its key must not be removed.
    private func otherDatabase() throws -> String? {
        let locations = Locations()
        guard locations.usesDefaultKeyFile, let own = try? locations.defaultDatabase(),
            !SessionDatabase.isSameFile(own, try database.path()), SessionDatabase.exists(at: own)
        else { return nil }
        return own
    }
}

extension KeyRotation {
    /// Names the values that could not be resealed.
    func reportUnreadable(_ console: Console) {
        for location in unreadable {
            console.error("\(location): the stored value was changed or moved; it stays as it is")
        }
    }
}

private struct KeyRotationReport: Encodable {
    let resealed: Int
    let resumed: Bool
    let oldKeysDropped: Bool
    let logEmpty: Bool
    let unreadable: [SealedValueReport]

    init(_ rotation: KeyRotation) {
        resealed = rotation.resealed
        resumed = rotation.wasResumed
        oldKeysDropped = rotation.oldKeysDropped
        logEmpty = rotation.isLogEmpty
        unreadable = rotation.unreadable.map(SealedValueReport.init)
    }
}

struct KeyPassphraseCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Set, change or remove the passphrase of the key file.",
        discussion: """
            The key stays the same, so no database changes. A copy of the old file still opens with the old passphrase: \
            'crumb key rotate' makes a new key. Asks for the new passphrase on the terminal unless you name a file. A \
            running service needs the passphrase, in CRUMB_PASSPHRASE_FILE, from its next start on, or as soon as the key \
            is rotated.
            """)

    @OptionGroup var output: OutputOptions

    @Option(help: "The file with the new passphrase in its first line; /dev/fd/N reads a descriptor.")
    var newPassphraseFile: String?

    @Flag(help: "Remove the passphrase: the file then holds the key in the clear.")
    var remove = false

    func validate() throws {
        if remove, newPassphraseFile != nil { throw ValidationError("--remove takes no new passphrase.") }
    }

    func execute(_ console: Console) throws {
        let location = KeyLocation()
        guard !location.isInEnvironment else {
            throw Problem(.keyRotationRefused, "CRUMB_KEY: a key in the environment has no passphrase; unset it first")
        }
        let file = try location.file()
        guard let state = try file.state() else {
            throw Problem(.keyMissing, "\(file.path): there is no key yet; the first import creates one")
        }
        if remove {
            guard state.isLocked else {
                console.note("\(file.path) has no passphrase")
                return
            }
            try file.changePassphrase(to: nil)
            console.note("\(file.path) is no longer encrypted; only you can read it")
            return
        }
        try file.changePassphrase(
            to: try Terminal.passphrase(in: newPassphraseFile, by: "--new-passphrase-file", isNew: true))
        console.note("\(file.path) is locked with the new passphrase; without it, every sealed value is lost")
        console.note("a running service needs CRUMB_PASSPHRASE_FILE when it restarts or the key is rotated")
    }
}
