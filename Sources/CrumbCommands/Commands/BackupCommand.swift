import ArgumentParser
import PackageStore
import Platform
import SessionClient
import SessionOperations
import SessionStore

struct BackupCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up the database to one file, even while it is in use.",
        discussion: """
            The backup is sealed under the same key: back up the key too, in another place. The file appears whole or not \
            at all, and only you can read it. 'crumb restore FILE' restores it; '--database FILE' uses it in place.

            Offline packages are not in it: keep their archives.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace an existing file.")
    var force = false

    @Argument(help: "The file to write.")
    var file: String

    func execute(_ console: Console) throws {
        try database.requireFile(
            onServer: "Back up a database server with 'pg_basebackup' or 'pg_dump', and the key file apart from it.")
        guard let opened = try database.openExisting(now: console.now) else {
            throw CommandFailure(.databaseUnavailable, "\(try database.path()): there is no database to back up")
        }
        let key = try KeyLocation().name()
        let size = try opened.backUp(to: file, replacing: force)
        KnownDatabases().remember(file)
        try console.report(BackupReport(file: file, sizeInBytes: size, key: key), line: "\(file): \(size) bytes")
        console.note(
            "the backup is sealed: it cannot be opened without the key from \(key); back that up too, in another "
                + "place")
        if PackageStore.exists(beside: opened) {
            console.note("note: the offline packages of the database are not in the backup; keep their archives")
        }
    }
}

private struct BackupReport: Encodable {
    let file: String
    let sizeInBytes: Int64
    let key: String
}

struct RestoreCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace the database with a backup.",
        discussion: """
            Reads a file that 'crumb backup' made. It must be sealed under the current key. Crumb copies the backup, \
            checks its structure and every sealed value, and then replaces the database in one step, with its \
            write-ahead log. The backup stays as it is.

            To restore a jar that was removed, use 'crumb jars restore'; for a saved session, 'crumb session restore'.

            Stop 'crumb serve' and every other process that uses the database first: exit status 25 if one still has it \
            open. An existing database is replaced only with --force; back it up first to keep it.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace an existing database.")
    var force = false

    @Argument(help: "The backup.", completion: .file())
    var file: String

    func execute(_ console: Console) throws {
        try database.requireFile(
            onServer: "Restore a database server with the tools of PostgreSQL, then run 'crumb cluster quarantine'.")
        let path = try database.path()
        guard !FileSystem.isAbsent(file) else {
            throw CommandFailure(
                .inputNotFound,
                "\(file): no such file; name a backup that 'crumb backup' made. 'crumb jars restore' restores a jar, "
                    + "'crumb session restore' a saved session")
        }
        let restored = try SessionDatabase.restore(
            file, to: path, keys: try KeyLocation().source(), replacing: force, now: console.now)
        KnownDatabases().remember(path)
        try StoredResponses.remove(besideDatabase: path) { ProcessEnvironment.variables[$0] }
        let report = RestorationReport(
            database: path, file: file, jars: restored.jars, sealedValues: restored.sealedValues,
            sizeInBytes: restored.sizeInBytes, replaced: restored.replaced)
        try console.report(report) {
            let jars = counted(restored.jars, "jar")
            let values = counted(restored.sealedValues, "sealed value")
            try console.writeLine(
                "\(path): \(restored.replaced ? "replaced with" : "restored from") \(file): \(jars), \(values)")
        }
    }
}

private struct RestorationReport: Encodable {
    let database: String
    let file: String
    let jars: Int
    let sealedValues: Int
    let sizeInBytes: Int64
    let replaced: Bool
}

struct PruneCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove expired cookies and old journal entries, and free their space.",
        discussion: """
            Expired cookies are never sent, pruned or not. They are removed once the clock has advanced by a day, so a \
            clock that jumps ahead and back loses none. Saved sessions stay as they are. What 'crumb jars restore' can \
            restore is removed after a day too, or at once with --now. Rewrites the file if at least a \
            quarter of it, and a megabyte, is free, and empties the write-ahead log.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(name: .shortAndLong, help: "Remove cookies from this jar only. Default: all jars.")
    var jar: String?

    @Option(parsing: .unconditional, help: "Keep this many entries of the journal.")
    var journalEntries = SessionDatabase.defaultJournalLimit

    @Flag(help: "Also remove at once what 'crumb jars restore' could restore.")
    var now = false

    @Flag(inversion: .prefixedNo, help: "Rewrite the file without free pages. Default: if that frees enough space.")
    var vacuum: Bool?

    func validate() throws {
        if journalEntries < 0 { throw ValidationError("--journal-entries: use 0 or more.") }
    }

    func execute(_ console: Console) throws {
        let document = PruneDocument(journalEntries: journalEntries, vacuum: vacuum, emptyBin: now ? true : nil)
        let place = try database.place(now: console.now)
        let report = try pruned(document, in: place) ?? PruneReport(Pruning())
        if let database = try place.database() { PackageStore.removeFolders(ofRemovedJars: database) }
        try console.report(report, line: report.text)
    }

    /// - Returns: `nil` if nothing was ever stored, in the default jar if that is meant.
    private func pruned(_ document: PruneDocument, in place: OperationPlace) throws -> PruneReport? {
        guard let jar else { return try place.answer(to: .pruneAll(document), by: .prune) }
        let request = SessionRequest.prune(document, jar: jar)
        do {
            if let report = try place.answer(to: request, by: .pruneJar) { return report }
        } catch {
            guard place.missingJar(error, of: request) != nil else { throw error }
            guard jar == "default" else { throw SessionStoreError(noJarNamed: jar) }
        }
        guard jar == "default" else { throw try place.missing(jar) }
        return nil
    }
}

struct CheckCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the database: file structure, rows without owners, sealed values, permissions.",
        discussion: """
            Changes nothing. Exit status 0 if the database is sound, 29 if not. If it cannot be opened, the status is the \
            same as with any other command.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        try database.requireFile(onServer: "Check a database on a server with 'crumb cluster check'.")
        let opened = try database.openExisting(now: console.now)
        let check = try opened?.check() ?? DatabaseCheck()
        let report = CheckReport(
            database: try opened?.path ?? database.path(), sound: check.isSound, readableValues: check.readableValues,
            findings: check.findings.map { finding in
                CheckReport.Finding(
                    code: finding.code.rawValue, problem: finding.isProblem, message: text(of: finding),
                    value: finding.location.map(SealedValueReport.init))
            })
        if output.json { try console.writeJSON(report) }
        guard opened != nil else { return console.note("\(report.database): there is no database yet") }
        if !output.json {
            for finding in report.findings {
                try console.writeLine("\(finding.problem ? "wrong" : "note ")  \(finding.message)")
            }
            let problems = report.findings.count(where: \.problem)
            let verdict = problems == 0 ? "sound" : counted(problems, "problem")
            try console.writeLine(
                "\(report.database): \(verdict); \(counted(check.readableValues, "sealed value")) can be read")
        }
        if !check.isSound { throw FailureKind.checkFailed.exitCode }
    }

    /// A finding whose remedy is a command for this database.
    private func text(of finding: DatabaseFinding) -> String {
        guard let command = finding.command else { return finding.commandDescription }
        return finding.commandDescription.replacing("'crumb \(command)'", with: "'\(database.command(command, []))'")
    }
}

private struct CheckReport: Encodable {
    struct Finding: Encodable {
        let code: String
        let problem: Bool
        let message: String
        let value: SealedValueReport?
    }

    let database: String
    let sound: Bool
    let readableValues: Int
    let findings: [Finding]
}
