import ArgumentParser
import CookieModel
import HTTPMessages
import OfflinePackages
import PackageStore
import SessionOperations
import SessionStore

struct PackageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "package",
        abstract: "Build, add and roll back offline packages, which answer requests before the network.",
        discussion: """
            A package is a ZIP archive with a manifest: URLs, a version and digests. 'crumb gateway run', 'crumb run', \
            'crumb browse' and the gateways of a service answer GET and HEAD requests to its URLs from it, unless \
            --no-packages is given. It may answer for any origin that it names, so add only packages that you trust with \
            these sites. Packages are files of one machine: for services that share a database server, run these commands \
            on each, as the user of its service.
            """,
        subcommands: [
            PackageAddCommand.self, PackageListCommand.self, PackageShowCommand.self, PackageVerifyCommand.self,
            PackageRollbackCommand.self, PackageRemoveCommand.self, PackageBuildCommand.self,
        ], defaultSubcommand: PackageListCommand.self)
}

struct PackageAddCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a package to a jar, or a newer version of one: all of it, or nothing.",
        discussion: """
            Prints the origins that the package answers for. A package that was signed once is refused without a valid \
            signature of the same key from then on. A download that breaks off goes on with the next attempt. The version \
            before stays for 'crumb gateway package rollback'; open pages keep the version that they began with.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: .file("The publisher's Ed25519 public key, in PEM. The package has to be signed with it, now and later."))
    var key: String?

    @Option(
        help: .value(
            "url", "An origin that the package may answer for, such as https://shop.example. Repeatable. Default: all.")
    )
    var origin: [String] = []

    @Flag(help: "Also add a version that is equal to the stored one, or older.")
    var force = false

    @Argument(help: "The package: a file, or an https or http URL.")
    var package: String

    func execute(_ console: Console) throws {
        // Before a file is read, which may be a pipe: the command may start again as another program.
        let served = try jar.databaseOptions.openServed(now: console.now)
        // Before a jar is created.
        if let served { _ = try PackageStore.requiredRoot(of: served) }
        var conditions = PackageStore.Conditions()
        conditions.isForced = force
        conditions.key = try key.map(PackageKeyFile.publicKey)
        conditions.origins = try origin.map { text in
            guard let url = try? RequestURL(text), url.path == "/", url.query.isEmpty else {
                throw ValidationError("--origin '\(text)': write an origin such as https://shop.example.")
            }
            return url.origin
        }
        let isURL = ["https://", "http://"].contains(where: package.lowercased().hasPrefix)
        guard isURL else {
            let archive = try PackageArchive(try InputPath.file(package))
            return try jar.withJar(in: served, console) { kept, hasStarted in
                try add(archive, conditions, to: kept, hasStarted, console)
            }
        }
        let url = try requestURL(package)
        let fetch = try Network.required().fetchPackage
        conditions.needsKnownKey = url.scheme == .http && !url.host.isLoopback
        try SessionStoreError.check(jar.jar, of: "jar")
        // It is locked until it is added and removed.
        let download = try PackageStore.requiredDownload(
            of: url, beside: try served ?? jar.databaseOptions.open(now: console.now))
        defer { download.removeUnusable() }
        try Blocking.run { try await fetch(download) }
        do {
            let archive = try PackageArchive(download)
            // Only now, so that a download that breaks off leaves no jar.
            try jar.withJar(in: served, console) { kept, hasStarted in
                try add(archive, conditions, to: kept, hasStarted, console)
            }
        } catch let error as PackageError where error.code == .diskFull || error.code == .notWritten {
            throw error
        } catch {
            // Another attempt would add the same octets.
            download.remove()
            guard let error = error as? PackageError, error.code == .invalid else { throw error }
            let shown = SecretRedaction.url(url.withoutQuery.description)
            throw PackageError(.invalid, "\(shown): \(error.description)")
        }
        download.remove()
    }

    /// - Parameter hasStarted: Is called once the jar has the package.
    private func add(
        _ archive: PackageArchive, _ conditions: PackageStore.Conditions, to kept: CookieJar, _ hasStarted: () -> Void,
        _ console: Console
    ) throws {
        let (added, newOrigins) = try PackageStore.required(of: kept).add(archive, on: conditions, now: console.now)
        hasStarted()
        let report = PackageReport(added, in: kept.name)
        try console.report(report, note: "added \(report.sentence) to jar '\(kept.name)'")
        if !newOrigins.isEmpty {
            console.note("note: the version before did not answer for \(newOrigins.joined(separator: ", "))")
        }
        if added.signer == nil {
            console.note(
                "note: the package is not signed, so nothing shows that the next version comes from the same publisher")
        }
    }
}

struct PackageListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the packages of a jar.", aliases: ["ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let kept = try jar.jarWithPackages(console)
        let packages = try kept.map { try PackageStore.required(of: $0).packages() } ?? []
        // Another user, variable or URL leads to another folder.
        let served = kept.flatMap { $0.database.isOnServer ? PackageStore.root(of: $0.database) : nil }
        let place = served.map { " in \($0)" } ?? ""
        try console.writeTable(
            ["NAME", "VERSION", "RESOURCES", "OCTETS", "SIGNED", "BEFORE", "ORIGINS"],
            of: packages.map { PackageReport($0, in: jar.jar) }, none: "no packages in jar '\(jar.jar)'\(place)"
        ) { (package: PackageReport) -> [String] in package.cells }
    }
}

struct PackageShowCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a package: its origins, its key, and every URL that it answers.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the package.")
    var name: String

    func execute(_ console: Console) throws {
        let store = try jar.packages(with: name, console)
        let package = try store.found(name)
        let manifest = try store.manifest(of: name)
        let report = PackageDetails(package: PackageReport(package, in: jar.jar), manifest: manifest)
        try console.report(report) {
            var lines = [
                ("name", report.package.name), ("version", report.package.version),
                ("before", report.package.previous ?? "-"), ("added", report.package.added),
                (
                    "key",
                    report.package.key.map { report.package.signed ? $0 : "\($0), but this version is not signed" }
                        ?? "not signed"
                ),
            ]
            lines += report.package.origins.map { ("origin", $0) }
            lines += report.package.allowedOrigins?.map { ("allowed origin", $0) } ?? []
            lines += report.resources.map {
                ("resource", "\($0.status) \($0.url), \(counted(Int($0.octets), "octet"))")
            }
            try console.writeLines(lines)
        }
    }
}

struct PackageVerifyCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read all of a package, and check every digest.",
        discussion: "Exit status 35 if a resource was changed. The network answers in its place; add the package again."
    )

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the package.")
    var name: String

    func execute(_ console: Console) throws {
        let store = try jar.packages(with: name, console)
        let damaged = try store.verify(name).map(\.description)
        try console.report(
            ["package": [name], "damaged": damaged],
            note: damaged.isEmpty ? "package '\(name)' is intact" : "package '\(name)' has damaged resources")
        try console.reportDamage(
            damaged.map { "\($0): its copy in package '\(name)' was changed; add the package again" })
    }
}

struct PackageRollbackCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Bring back the version of a package before, or a package that was removed.",
        discussion: "A second rollback undoes the first one. Pages that are open keep the version that they began with."
    )

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the package.")
    var name: String

    func execute(_ console: Console) throws {
        let package = try jar.packages(with: name, console).rollBack(name, now: console.now)
        let report = PackageReport(package, in: jar.jar)
        try console.report(report, note: "package '\(name)' of jar '\(jar.jar)' has version \(report.version)")
    }
}

struct PackageRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a package from a jar.",
        discussion: """
            'crumb gateway package rollback' brings it back for a day. After that, the next change of the jar's packages \
            removes its files. A package of the same name that is added later may have another key.
            """, aliases: ["rm"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the package.")
    var name: String

    func execute(_ console: Console) throws {
        let package = try jar.packages(with: name, console).remove(name, now: console.now)
        try console.report(
            PackageReport(package, in: jar.jar),
            note: "removed package '\(name)' from jar '\(jar.jar)'; for a day, "
                + "'\(jar.databaseOptions.command("gateway package rollback", ["--jar=\(jar.jar)", name]))' brings it back"
        )
    }
}

extension JarOptions {
    /// The jar, of a database on a server too.
    fileprivate func jarWithPackages(_ console: Console) throws -> CookieJar? {
        try openExistingJar(now: console.now, in: databaseOptions.openServed(now: console.now))
    }

    /// The packages of the jar, for a command about one of them.
    fileprivate func packages(with name: String, _ console: Console) throws -> PackageStore {
        guard let kept = try jarWithPackages(console) else {
            throw CommandFailure(advising: .packageNotFound, "the jar has no package '\(name)'")
        }
        return try PackageStore.required(of: kept)
    }
}

extension PackageStore {
    /// The packages of a jar.
    static func required(of jar: CookieJar) throws -> PackageStore {
        guard let store = PackageStore(of: jar) else { throw folderUnknown(jar.database) }
        return store
    }

    fileprivate static func requiredDownload(
        of url: RequestURL, beside database: SessionDatabase
    ) throws -> PackageDownload {
        guard let download = try download(url, beside: database) else { throw folderUnknown(database) }
        return download
    }

    /// The folder of a database's packages.
    fileprivate static func requiredRoot(of database: SessionDatabase) throws -> String {
        guard let root = root(of: database) else { throw folderUnknown(database) }
        return root
    }

    private static func folderUnknown(_ database: SessionDatabase) -> ValidationError {
        guard database.isOnServer else {
            return ValidationError("Packages belong to a database file: name it with --database.")
        }
        return ValidationError(
            namesDatabase(database.path)
                ? "The folder for packages is not known: set XDG_DATA_HOME to the path of your folder for data, or HOME."
                : "The URL names no database, so the folder for its packages is not known: write "
                    + "postgresql://HOST/DATABASE, or service=NAME.")
    }

    fileprivate func found(_ name: String) throws -> Package {
        guard let package = try packages().first(where: { $0.name == name }) else {
            throw CommandFailure(advising: .packageNotFound, "the jar has no package '\(name)'")
        }
        return package
    }
}

/// A file that a user names and that is read at any position.
private enum InputPath {
    static func file(_ path: String) throws -> PackageFile {
        // Reports a missing file as every other command does.
        _ = try InputFile(path).nextChunk()
        return try PackageFile(path)
    }
}
