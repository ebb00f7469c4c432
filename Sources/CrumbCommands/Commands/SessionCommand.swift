import ArgumentParser
import CookieModel
import SessionClient
import SessionOperations

struct SessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Save and restore the cookies of a jar, or end its session as a browser does.",
        subcommands: [
            SessionEndCommand.self, SessionSaveCommand.self, SessionRestoreCommand.self, SessionListCommand.self,
            SessionRemoveCommand.self,
        ])
}

struct SessionSaveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save the cookies of a jar under a name.",
        discussion: "Replaces the session that was saved under the same name, and reports it.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the saved session.", completion: NameCompletion.sessions)
    var name: String

    func execute(_ console: Console) throws {
        let place = try jar.place(now: console.now)
        let request = SessionRequest.saveSession(name, of: jar.jar)
        let save =
            try jar.jar == "default"
            ? place.performCreatingJar(request, by: .saveSnapshot) : place.perform(request, by: .saveSnapshot)
        try console.report(save) {
            let previous = save.replaced.map {
                "; replaced the session of \($0.saved) with \(counted($0.cookies, "cookie"))"
            }
            console.note(
                "saved \(counted(save.session.cookies, "cookie")) of jar '\(jar.jar)' as '\(name)'\(previous ?? "")"
            )
        }
    }
}

struct SessionListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the saved sessions of a jar.", aliases: ["show", "ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let sessions = try jar.place(now: console.now).savedSessions(of: jar.jar)
        try console.writeTable(
            ["NAME", "SAVED", "COOKIES"], of: sessions,
            none: "no saved sessions of jar '\(jar.jar)': 'crumb session save NAME' saves one"
        ) { [shown($0.name), $0.saved, "\($0.cookies)"] }
    }
}

struct SessionRestoreCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore the cookies of a jar from a saved session.",
        discussion: """
            Removes cookies that arrived since then; save them under another name first to keep them. Lists cookies that \
            have expired since, and leaves them out.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the saved session.", completion: NameCompletion.sessions)
    var name: String

    func execute(_ console: Console) throws {
        let place = try jar.place(now: console.now)
        guard let restoration = try place.performIfThere(.restoreSession(name, of: jar.jar), by: .restoreSnapshot)
        else { throw CommandFailure.nothingSaved(as: name) }
        try console.report(restoration) {
            let expired = restoration.expired.isEmpty ? "" : ", \(restoration.expired.count) expired since"
            console.note(
                "restored '\(name)' in jar '\(jar.jar)': \(counted(restoration.cookies, "cookie")); "
                    + "\(restoration.added) added, \(restoration.changed) changed, \(restoration.removed) removed"
                    + expired)
            for cookie in restoration.expired { console.note("  expired \(cookie.label)") }
        }
    }
}

struct SessionRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a saved session. The cookies of the jar stay as they are.",
        aliases: ["rm", "delete"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the saved session.", completion: NameCompletion.sessions)
    var name: String

    func execute(_ console: Console) throws {
        let place = try jar.place(now: console.now)
        guard let session = try place.performIfThere(.removeSavedSession(name, of: jar.jar), by: .removeSnapshot)
        else { throw CommandFailure.nothingSaved(as: name) }
        try console.report(
            session,
            note: "removed saved session '\(name)' of jar '\(jar.jar)' with \(counted(session.cookies, "cookie"))")
    }
}

struct SessionEndCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "end", abstract: "Remove the session cookies of a jar, as a browser does when it quits.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let end =
            try jar.place(now: console.now).performIfThere(.endSession(of: jar.jar), by: .endSession)
            ?? SessionEndReport(jar: jar.jar, removed: 0, kept: 0)
        try console.report(
            end,
            note: "ended the session of jar '\(jar.jar)': \(counted(end.removed, "session cookie")) removed, "
                + "\(end.kept) with an expiry kept")
    }
}
