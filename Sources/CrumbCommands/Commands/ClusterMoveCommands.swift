import ArgumentParser
import PackageStore
import SessionOperations
import SessionStore

struct ClusterImportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Copy a SQLite database, or some of its jars, to a server.",
        discussion: """
            Ids and sealed values stay what they are: use the key file of the SQLite database. Each jar is one \
            transaction, in which what was written is compared with what was read. Run the command again to continue \
            after an interruption. Stop the services that use the file first: their later changes are not copied.
            """)

    @OptionGroup var server: ServerOption
    @OptionGroup var selection: MoveSelection
    @OptionGroup var output: OutputOptions

    @Argument(help: "The SQLite database to read.")
    var file: String

    func execute(_ console: Console) throws {
        guard SessionDatabase.exists(at: file) else {
            throw CommandFailure(.databaseUnavailable, "\(file): there is no database to import")
        }
        let target = try server.open(now: console.now)
        let source = try SessionDatabase(
            path: DatabaseOptions.file(file), keys: try KeyLocation().source(), now: console.now)
        try selection.copy(from: source, to: target, output, console)
        if PackageStore.exists(beside: source) {
            console.note(
                "note: the offline packages of the database stay behind; add them on each node with 'crumb gateway package add'"
            )
        }
    }
}

struct ClusterExportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Copy the database of a server, or some of its jars, to a SQLite file.",
        discussion: """
            The file is a complete database: use it with --database, under the same key. An existing file is only added \
            to, so that an interrupted export continues; a jar that differs is an error.
            """)

    @OptionGroup var server: ServerOption
    @OptionGroup var selection: MoveSelection
    @OptionGroup var output: OutputOptions

    @Argument(help: "The SQLite database to write.")
    var file: String

    func execute(_ console: Console) throws {
        let source = try server.open(now: console.now)
        let target = try SessionDatabase(
            path: DatabaseOptions.file(file), keys: try KeyLocation().source(), durability: .full, now: console.now)
        KnownDatabases().remember(file)
        try selection.copy(from: source, to: target, output, console)
    }
}

/// Which jars are copied between a file and a server.
struct MoveSelection: ParsableArguments {
    @Option(
        name: .customLong("jar"),
        help: .value("name", "Copy only this jar; repeatable. Default: all jars, and tokens."))
    var jars: [String] = []

    func copy(
        from source: SessionDatabase, to target: SessionDatabase, _ output: OutputOptions, _ console: Console
    ) throws {
        var parts: [MovedPart] = []
        try target.copy(from: source, jars: jars.isEmpty ? nil : jars) { part, total in
            parts.append(part)
            guard !output.quiet else { return }
            let name = part.jar.map { "jar '\($0)'" } ?? "tokens"
            let state = part.wasThere ? "already there" : "copied"
            console.note("\(parts.count) of \(total): \(name) \(state), \(counted(part.rows, "row"))")
        }
        let report = MoveReport(
            source: source.path, target: target.path,
            parts: parts.map {
                MoveReport.Part(
                    jar: $0.jar, rows: $0.rows, cookies: $0.cookies, digest: $0.digest, copied: !$0.wasThere)
            })
        try console.report(report, line: report.text)
    }
}

private struct MoveReport: Encodable {
    struct Part: Encodable {
        /// `nil` for what belongs to no jar.
        let jar: String?
        let rows: Int
        let cookies: Int
        let digest: String
        let copied: Bool
    }

    let source: String
    let target: String
    let parts: [Part]

    var text: String {
        let jars = parts.filter { $0.jar != nil }
        let cookies = jars.reduce(0) { $0 + $1.cookies }
        let copied = parts.count { $0.copied }
        let state = copied == parts.count ? "all copied" : "\(copied) of \(parts.count) parts copied"
        return "\(target): \(counted(jars.count, "jar")) with \(counted(cookies, "cookie")); \(state), all compared"
    }
}
