import ArgumentParser
package import CookieModel
import SessionOperations
package import SessionStore

struct ClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Create, upgrade and check a PostgreSQL database that several services share.",
        discussion: """
            The database is a URL such as postgresql://db1,db2/crumb, given by --database or CRUMB_DATABASE. Passwords \
            come from a password file or a service file of PostgreSQL, never from the URL. 'crumb serve --database URL' \
            runs a service on it; other commands reach it through that service, with --service.
            """,
        subcommands: [
            ClusterCreateCommand.self, ClusterUpgradeCommand.self, ClusterStatusCommand.self, ClusterCheckCommand.self,
            ClusterImportCommand.self, ClusterExportCommand.self, ClusterRotateKeyCommand.self,
            ClusterQuarantineCommand.self,
        ])
}

struct ClusterCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create the schema in an empty database, and seal it under the key.",
        discussion: """
            The key must exist: give every service the same key file. The user of the URL needs the right to create a \
            schema; services do not.
            """)

    @OptionGroup var server: ServerOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let access = try Network.required().servers
        let url = try server.url()
        let keys = try KeyLocation().source()
        // First, so that no database is left without a key.
        try keys.checkPresence()
        let applied = try access.upgrade(url, true)
        // The first use enters the key.
        _ = try access.open(url, keys, console.now)
        try console.report(["applied": applied], line: "created the schema \(applied.last ?? "")")
    }
}

struct ClusterUpgradeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade", abstract: "Bring the schema up to date, while services go on using it.")

    @OptionGroup var server: ServerOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let applied = try Network.required().servers.upgrade(try server.url(), false)
        try console.report(
            ["applied": applied],
            line: applied.isEmpty ? "the schema is up to date" : "applied \(applied.joined(separator: ", "))")
    }
}

struct ClusterStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the server, the schema, the standbys and the clock.")

    @OptionGroup var server: ServerOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let store = try server.open(now: console.now)
        guard let status = try store.serverStatus() else { return }
        let now = console.now
        let report = ServerReport(
            database: store.path, server: status.version, schema: status.schema, sizeInBytes: status.sizeInBytes,
            synchronousStandbys: status.synchronousStandbys, waitsForStandby: status.waitsForStandby,
            clockLeadMilliseconds: status.clockLead(at: now),
            rotationUnfinished: try store.keyUse() != .newest)
        try console.report(report, line: report.text(clock: status.clockOffset(at: now)))
    }
}

struct ClusterCheckCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the standbys, the clock and every sealed value. Changes nothing.",
        discussion: "Exit status 0 if all is well, 29 if not.")

    @OptionGroup var server: ServerOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let store = try server.open(now: console.now)
        let now = console.now
        var problems = try store.serverStatus()?.problems(at: now) ?? []
        let check = try store.check()
        problems += check.findings.filter(\.isProblem).map(\.description)
        for finding in check.findings where !finding.isProblem { console.note(finding.commandDescription) }
        try console.report(
            ClusterCheckReport(database: store.path, problems: problems, readableValues: check.readableValues)
        ) {
            for problem in problems.prefix(ClusterCheckReport.shownLimit) { try console.writeLine("wrong  \(problem)") }
            if problems.count > ClusterCheckReport.shownLimit {
                try console.writeLine("and \(problems.count - ClusterCheckReport.shownLimit) more; --json has all")
            }
            let verdict = problems.isEmpty ? "sound" : counted(problems.count, "problem")
            try console.writeLine(
                "\(store.path): \(verdict); \(counted(check.readableValues, "sealed value")) can be read")
        }
        if !problems.isEmpty { throw FailureKind.checkFailed.exitCode }
    }
}

private struct ClusterCheckReport: Encodable {
    /// How many problems are printed as text.
    static let shownLimit = 10

    let database: String
    let problems: [String]
    let readableValues: Int
}

struct ClusterQuarantineCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Keep logins from being renewed, after the database was restored to an earlier point in time.",
        discussion: """
            A restored refresh token may have been used since. Many servers end a login if a former refresh token comes \
            again. Run this before the first service starts: valid access tokens are used as before, and no login is \
            renewed until it was confirmed. To confirm one, log in again, or run 'crumb token refresh NAME' if the server \
            forgives, or if the refresh token has not been used since.
            """)

    @OptionGroup var server: ServerOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let names = try server.open(now: console.now).tokens.quarantine(now: console.now)
        try console.report(["logins": names]) {
            for name in names { try console.writeLine(name) }
            console.note("quarantined \(counted(names.count, "login"))")
        }
    }
}

/// Which database on a server a command is for.
struct ServerOption: ParsableArguments {
    @Option(help: "The database's URL, such as postgresql://db1,db2/crumb. Default: CRUMB_DATABASE.")
    var database: String?

    func url() throws -> String {
        let name = try database ?? Locations().database()
        guard DatabasePlace.isServer(name) else {
            throw ValidationError("Name a database on a server: --database postgresql://HOST/NAME.")
        }
        return name
    }

    func open(now: Timestamp) throws -> SessionDatabase {
        try Network.required().servers.open(try url(), try KeyLocation().source(), now)
    }
}

/// The operations on server databases that a program with a network provides.
package struct ServerAccess: Sendable {
    /// Opens a database that has a schema.
    let open: @Sendable (_ url: String, _ keys: KeySource, _ now: Timestamp) throws -> SessionDatabase
    /// Applies missing migrations to the schema, and returns their names.
    ///
    /// Its second parameter is whether the database must not have a schema yet.
    let upgrade: @Sendable (_ url: String, _ isNew: Bool) throws -> [String]

    /// Creates the access of a program.
    package init(
        opening open: @escaping @Sendable (String, KeySource, Timestamp) throws -> SessionDatabase,
        upgrading upgrade: @escaping @Sendable (String, Bool) throws -> [String]
    ) {
        self.open = open
        self.upgrade = upgrade
    }
}

private struct ServerReport: Encodable {
    let database: String
    let server: String
    let schema: String
    let sizeInBytes: Int64
    let synchronousStandbys: Int
    let waitsForStandby: Bool
    /// How far the server's clock is ahead of this machine's, in milliseconds.
    let clockLeadMilliseconds: Int64
    /// Whether the key file has a newer key than the database, or values may be sealed under an older one.
    let rotationUnfinished: Bool

    /// The state for a person.
    ///
    /// - Parameter offset: How the server's clock differs.
    func text(clock offset: String) -> String {
        Console.table([
            ["database", database], ["server", server], ["schema", schema], ["size", "\(sizeInBytes) bytes"],
            ["synchronous standbys", "\(synchronousStandbys)\(waitsForStandby ? "" : "; commits wait for none")"],
            ["server's clock", "\(offset) this machine's"],
            ["key rotation", rotationUnfinished ? "unfinished: run 'crumb cluster rotate-key'" : "none in progress"],
        ])
    }
}
