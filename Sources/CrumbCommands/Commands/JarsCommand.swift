import ArgumentParser
import SessionClient
import SessionOperations
import SessionStore

struct JarsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jars",
        abstract: "List, create, copy, merge, remove and restore jars.",
        discussion: "Each jar is a separate set of cookies. Other commands choose one with --jar or CRUMB_JAR.",
        subcommands: [
            JarsListCommand.self, JarsCreateCommand.self, JarsRenameCommand.self, JarsCopyCommand.self,
            JarsMergeCommand.self, JarsClearCommand.self, JarsRemoveCommand.self, JarsRestoreCommand.self,
            JarsSettingsCommand.self, JarsFieldsCommand.self,
        ],
        defaultSubcommand: JarsListCommand.self)
}

struct JarsListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the jars.", aliases: ["ls"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "List what 'crumb jars restore' can restore instead.")
    var removed = false

    func execute(_ console: Console) throws {
        let place = try database.place(now: console.now)
        if removed {
            return try console.writeTable(
                ["JAR", "WHAT", "WHEN", "COOKIES", "SAVED"], of: try place.removedJars(),
                none: "there is nothing to restore"
            ) { jar in [shown(jar.jar), jar.cause, jar.time, "\(jar.cookies)", "\(jar.savedSessions)"] }
        }
        try console.writeTable(
            ["JAR", "COOKIES", "SESSION", "SAVED", "PROFILE", "NEXT EXPIRY"], of: try place.jars(),
            none: "no jars yet: 'crumb import FILE' and 'crumb jars create NAME' create one"
        ) { jar in
            [
                shown(jar.name), "\(jar.cookies)", "\(jar.sessionCookies)", "\(jar.savedSessions)", jar.profile,
                jar.nextExpiry ?? "-",
            ]
        }
    }
}

struct JarsCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a jar, optionally with settings.",
        discussion: "'crumb import --jar NAME' creates one too, with default settings.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var settings: JarSettingsOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the jar.")
    var name: String

    func execute(_ console: Console) throws {
        let document = try settings.document(name: name)
        let place = try database.place(now: console.now)
        try place.createDatabase()
        let report = try place.perform(.createJar(document), by: .createJar)
        try console.report(
            report,
            note: "created jar '\(name)'; import cookies with '\(database.command("import", ["--jar", name, "FILE"]))'")
    }
}

struct JarsSettingsCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show or change the settings of a jar.",
        discussion: """
            Changes only the settings that you give. Cookies over a new limit are evicted, and listed, when the next \
            cookie arrives.
            """,
        aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var changes: JarSettingsOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the jar.", completion: NameCompletion.jars)
    var name: String

    func execute(_ console: Console) throws {
        let place = try database.place(now: console.now)
        let report: JarSettingsReport
        if changes.isEmpty {
            let jar = try place.perform(.jar(name), by: .getJar)
            report = JarSettingsReport(name: jar.name, profile: jar.profile, limits: jar.limits)
        } else {
            report = try place.perform(.changeSettings(of: name, try changes.document()), by: .changeJar)
        }
        try console.report(report, line: report.text)
    }
}

struct JarsRenameCommand: CrumbCommand {
    static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a jar. Its contents stay.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The current name of the jar.", completion: NameCompletion.jars)
    var name: String

    @Argument(help: "The new name.")
    var newName: String

    func execute(_ console: Console) throws {
        let report = try database.place(now: console.now).perform(.renameJar(name, to: newName), by: .renameJar)
        try console.report(report, note: "jar '\(name)' is now '\(newName)'")
    }
}

struct JarsCopyCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy a jar with its cookies and settings to a new jar.",
        discussion: "Saved sessions are not copied.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar to copy.", completion: NameCompletion.jars)
    var name: String

    @Argument(help: "The name of the new jar.")
    var newName: String

    func execute(_ console: Console) throws {
        let copy = try database.place(now: console.now).perform(.copyJar(name, to: newName), by: .copyJar)
        try console.report(copy) {
            let expired = copy.expired == 0 ? "" : ", \(copy.expired) expired left out"
            console.note("copied \(counted(copy.copied, "cookie")) from jar '\(name)' to '\(newName)'\(expired)")
        }
        try console.reportDamage(copy.unreadable.map { "\($0.unreadableLine); it was left out" })
    }
}

struct JarsMergeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge the cookies of one jar into another. The first jar stays as it is.",
        discussion: """
            If both jars have a cookie of the same name, domain and path, the one updated last wins. The limits of the \
            second jar apply; every cookie that they evict is listed. For a day, 'crumb jars restore TARGET' restores \
            the cookies and localStorage items of the second jar from before.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar to read.", completion: NameCompletion.jars)
    var name: String

    @Argument(help: "The existing jar to merge into.", completion: NameCompletion.jars)
    var target: String

    func execute(_ console: Console) throws {
        let merge = try database.place(now: console.now).perform(.mergeJar(name, into: target), by: .mergeJar)
        try console.report(merge) {
            console.note(
                "merged jar '\(name)' into '\(target)': \(merge.added) added, \(merge.replaced) replaced, "
                    + "\(merge.kept) not newer, \(merge.expired) expired, "
                    + "\(merge.evicted.count) evicted")
            for eviction in merge.evicted { console.note("  \(eviction.evictionLine)") }
            if merge.added + merge.replaced + merge.evicted.count > 0 { console.noteUndo(ofJar: target, in: database) }
        }
        try console.reportDamage(merge.unreadable.map { "\($0.unreadableLine); it was left out" })
    }
}

struct SitesCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "sites",
        abstract: "List the sites of all jars, with the jars that have cookies of each.",
        discussion: """
            A site is a registrable domain, such as example.com for www.example.com. The last use is exact to about an \
            hour. 'crumb list SITE' lists the cookies of a site.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: .shortAndLong, help: "List the sites of this jar only. Default: all jars.",
        completion: NameCompletion.jars)
    var jar: String?

    func execute(_ console: Console) throws {
        let place = try database.place(now: console.now)
        let sites = try pages(next: \.next) { cursor in
            let request = SessionRequest.sites(of: jar, cursor: cursor)
            return try jar == nil
                ? place.answer(to: request, by: .listSites) : place.performIfThere(request, by: .listSites)
        }.flatMap(\.sites)
        try console.writeTable(
            ["SITE", "JAR", "COOKIES", "NEXT EXPIRY", "LAST USE"], of: sites,
            none: "no cookies in \(jar.map { "jar '\($0)'" } ?? "any jar")"
        ) { [$0.site, shown($0.jar), "\($0.cookies)", $0.nextExpiry ?? "-", $0.lastUse] }
    }
}
