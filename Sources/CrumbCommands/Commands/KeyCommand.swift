import ArgumentParser
import SessionOperations
import SessionStore

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the key that seals the database.",
        discussion: """
            The key comes from CRUMB_KEY, in base64, else from the key file that CRUMB_KEY_FILE names. One key file can \
            serve any number of databases. It keeps former keys for those and for backups until 'crumb key forget'; \
            in CRUMB_KEY they come first, with commas between. A passphrase can lock the key file: it comes from the file \
            that CRUMB_PASSPHRASE_FILE names, else from the terminal, never from the command line, which others can see.
            """,
        subcommands: [
            KeyStatusCommand.self, KeyCreateCommand.self, KeyRotateCommand.self, KeyForgetCommand.self,
            KeyPassphraseCommand.self,
        ])
}

struct KeyStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show where the key comes from, whether it is locked, and what needs its former keys.",
        aliases: ["show"])

    @OptionGroup var database: DatabaseFileOptions
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
        var use: KeyUse?
        var former: FormerKeyUse?
        var hasLockedDatabase = false
        do {
            if let opened = try database.openIfPresent(now: console.now) {
                use = try opened.keyUse()
                former = FormerKeyUse(try opened.formerKeys())
            } else if report.locked != true, location.isInEnvironment || report.keys != nil {
                former = FormerKeyUse(try location.source().formerKeys())
            }
        } catch let error as SessionStoreError where error.code == .keyLocked {
            // All else is known without the passphrase.
            hasLockedDatabase = true
        }
        report.rotationUnfinished = use.map { $0 == .several }
        (report.formerKeys, report.notChecked) = (former?.reports, former?.unchecked)
        try console.report(
            report,
            line: report.text(use, hasLockedDatabase: hasLockedDatabase, rotation: database.command("key rotate", [])))
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
    /// `nil` if the key is locked.
    var formerKeys: [FormerKeyUse.Report]?
    var notChecked: [String]?

    /// The state for a person.
    ///
    /// - Parameters:
    ///   - use: The keys of the database; `nil` if there is no database, or the key is locked.
    ///   - hasLockedDatabase: Whether there is a database that the locked key keeps closed.
    ///   - rotation: The command that seals the database under the newest key.
    func text(_ use: KeyUse?, hasLockedDatabase: Bool, rotation: String) -> String {
        var file = "not created yet"
        if let keys, let locked {
            let former = keys > 1 ? " and \(counted(keys - 1, "former key"))" : ""
            file = "one key\(former), \(locked ? "locked with a passphrase" : "in the clear")"
        }
        var progress =
            switch use {
            case .several: "unfinished: run '\(rotation)'"
            case .former: "the database is sealed under a former key: '\(rotation)' moves it to the newest one"
            case .newest, nil: "none in progress"
            }
        if hasLockedDatabase {
            progress = "unknown while the key is locked: name the file with the passphrase in CRUMB_PASSPHRASE_FILE"
        }
        return Console.table(
            [
                [isFile ? "key file" : "environment", isFile ? "\(source) (\(file))" : source],
                ["database", database + (use == nil && !hasLockedDatabase ? " (not created yet)" : "")],
                ["rotation", progress],
            ] + (formerKeys ?? []).map { ["former key", $0.text(isCertain: notChecked?.isEmpty ?? true)] }
                + (notChecked ?? []).map { ["not checked", $0] })
    }
}

struct KeyCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a key file.",
        discussion: """
            Other commands create the key file when they first store something, so this is for services that share a \
            database on a server, which never create one, and for a database that gets a key of its own. The file has \
            mode 0600, and is locked if CRUMB_PASSPHRASE_FILE names a file with a passphrase. An existing file stays as \
            it is: exit status 28. If only the key file is missing and a database may be sealed with its key, put it \
            back: without --force, this creates no other key (exit status 30).
            """)

    @OptionGroup var output: OutputOptions

    @Flag(help: "Create the file even if a database is sealed with the key of a file that is missing here.")
    var force = false

    @Argument(help: "The file to create. Default: CRUMB_KEY_FILE, else crumb/key in your configuration folder.")
    var file: String?

    func execute(_ console: Console) throws {
        let location = KeyLocation()
        let created = try location.file(file)
        if !force, !location.isInEnvironment,
            let database = KnownDatabases(keyFile: created.path).sealedWithMissingKey
        {
            throw CommandFailure(
                .keyMissing,
                "\(created.path): the key file is missing, and \(database) may be sealed with its key; put it back. With "
                    + "--force, 'crumb key create' creates another key, which does not open that database")
        }
        try created.create()
        try console.report(["keyFile": created.path]) {
            try console.writeLine(created.path)
            console.note("back the key up: without it, every value that it seals is lost")
            if location.isInEnvironment { console.note("CRUMB_KEY is set, and counts before any key file") }
        }
    }
}

struct KeyPassphraseCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Set, change or remove the passphrase of the key file.",
        discussion: """
            The keys stay the same, former ones included, so no database changes. A copy of the old file still opens with the old passphrase: \
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
            throw CommandFailure(
                .keyRotationRefused, "CRUMB_KEY: a key in the environment has no passphrase; unset it first")
        }
        let file = try location.file()
        guard let state = try file.state() else {
            throw CommandFailure(.keyMissing, "\(file.path): there is no key yet; 'crumb key create' creates one")
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
