import ArgumentParser
import PackageStore
import SessionClient
import SessionOperations
import SessionStore

struct JarsRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove jars with their cookies, settings and saved sessions.",
        discussion: """
            For a day, 'crumb jars restore NAME' restores a jar with everything but its journal. If one of several jars \
            cannot be removed, the others are; the first failure determines the exit status.
            """,
        aliases: ["rm", "delete"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Remove them at once and for good, so that they cannot be restored.")
    var now = false

    @Argument(help: "The names of the jars.", completion: NameCompletion.jars)
    var names: [String]

    func execute(_ console: Console) throws {
        let place = try database.place(now: console.now)
        var failure: FailureKind?
        for name in names {
            do {
                try remove(name, in: place, console)
            } catch {
                guard let problem = CommandFailure(of: error) else { throw error }
                console.error(problem.message, problem.failure)
                failure = failure ?? problem.failure
            }
        }
        if let failure { throw failure.exitCode }
    }

    private func remove(_ name: String, in place: OperationPlace, _ console: Console) throws {
        let removal = try place.perform(.removeJar(name, isFinal: now), by: .removeJar)
        if let database = try place.database() { PackageStore.removeFolders(ofRemovedJars: database) }
        try console.report(removal) {
            console.note(
                "removed jar '\(name)' with \(counted(removal.cookies, "cookie")) and "
                    + counted(removal.savedSessions, "saved session"))
            if let warning = removal.warning { console.note("warning: \(warning)") }
            if !now { console.noteUndo(ofJar: name, in: database) }
        }
    }
}

struct JarsClearCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove every cookie and localStorage item of a jar. Its settings and saved sessions stay.",
        discussion: "For a day, 'crumb jars restore NAME' undoes it.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the jar.", completion: NameCompletion.jars)
    var name: String

    func execute(_ console: Console) throws {
        let report = try database.place(now: console.now).perform(.clearJar(name), by: .clearJar)
        try console.report(report) {
            let items =
                report.storageItems == 0 ? "" : " and \(counted(report.storageItems, "localStorage item"))"
            console.note("removed \(counted(report.removed, "cookie"))\(items) from jar '\(name)'")
            if report.removed + report.storageItems > 0 { console.noteUndo(ofJar: name, in: database) }
        }
    }
}

struct JarsRestoreCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a jar that was removed, cleared or merged into less than a day ago.",
        discussion: """
            'crumb jars list --removed' lists what can be restored. For a jar that exists, its cookies and localStorage \
            items become those from before it was cleared or merged into; its present ones are kept for a day, so that \
            the same command undoes this. 'crumb session restore' restores a saved session, and 'crumb restore' replaces \
            the whole database with a backup.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The name that a removed jar gets, if another jar has its former one.")
    var to: String?

    @Argument(help: "The name of the jar.", completion: NameCompletion.restorableJars)
    var name: String

    func execute(_ console: Console) throws {
        let restored = try restored(in: try database.place(now: console.now))
        if console.isJSON { return try console.writeJSON(restored) }
        if restored.cause == "removed" {
            console.note(
                "restored jar '\(restored.jar)' with \(counted(restored.cookies, "cookie")) and "
                    + counted(restored.savedSessions, "saved session"))
        } else {
            console.note(
                "restored \(counted(restored.cookies, "cookie")) of jar '\(restored.jar)', as before it was "
                    + "\(restored.cause == "merged" ? "merged into" : restored.cause)")
            console.noteUndo(ofJar: name, in: database)
        }
    }

    private func restored(in place: OperationPlace) throws -> RemovedJarReport {
        let request = SessionRequest.restoreJar(name, JarRestorationDocument(to: to))
        do {
            if let restored = try place.answer(to: request, by: .restoreJar) { return restored }
        } catch {
            // Not as for other requests: a similar name of a jar that exists would be no advice.
            throw place.missingJar(error, of: request).map { SessionStoreError(nothingToRestoreOf: $0) } ?? error
        }
        throw try place.missing(name)
    }
}

extension Console {
    /// Says how a change of a jar is undone.
    func noteUndo(ofJar name: String, in database: some DatabaseChoice) {
        note("to undo this within a day: \(database.command("jars restore", [name]))")
    }
}
