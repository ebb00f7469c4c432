import ArgumentParser
import BrowserCookies
import OAuth2
import Platform
import SessionOperations
import SessionStore

/// Which database a command works on, or which service it asks instead.
struct DatabaseOptions: DatabaseChoice {
    @Option(help: DatabaseOptions.help)
    var database: String?

    @OptionGroup var serviceOptions: ServiceOptions

    static let help: ArgumentHelp =
        "The database file. Default: CRUMB_DATABASE, else crumb/crumb.sqlite in your data folder."

    /// Whether a command that may have to renew a token needs the network from the beginning: it could not start again
    /// after it has asked a service, or has read a key that can be read only once.
    var mayNotBeginAnew: Bool { asksService || KeyLocation().isReadOnce }

    /// Where the operations on jars are done: in the file or by the service.
    func place(now: Timestamp) throws -> OperationPlace {
        OperationPlace(self, try service(), now: now)
    }
}

/// Which database a command works on that no service can replace.
///
/// The options for a service are accepted, hidden, so that the command rejects them with the reason.
struct DatabaseFileOptions: DatabaseChoice {
    @Option(help: DatabaseOptions.help)
    var database: String?

    @OptionGroup(visibility: .hidden) var serviceOptions: ServiceOptions
}

/// A database that the options or the environment name, or a service in its place.
protocol DatabaseChoice: ParsableArguments {
    var database: String? { get }
    var serviceOptions: ServiceOptions { get }
}

extension DatabaseChoice {
    func validate() throws {
        if database != nil, serviceOptions.service != nil {
            throw ValidationError("--database and --service exclude each other.")
        }
    }

    /// The options that name the place, as words for another command. Empty if it is the one that commands find without
    /// options.
    ///
    /// - Parameter path: Returns the form in which a path is written.
    func optionWords(_ path: (String) -> String = { $0 }) -> [String] {
        let options = [
            ("--database", database.map(path)), ("--service", serviceOptions.service),
            ("--service-token-file", serviceOptions.serviceTokenFile.map(path)),
            ("--service-ca", serviceOptions.serviceCA.map(path)),
        ]
        return options.flatMap { name, value in value.map { ["\(name)=\($0)"] } ?? [] }
    }

    /// A command to copy, with the options that name the place.
    ///
    /// - Parameters:
    ///   - name: The command's name, such as `jars restore`.
    ///   - words: What follows the options.
    func command(_ name: String, _ words: [String]) -> String {
        (["crumb \(name)"] + (optionWords() + words).map { "\(ShellWord($0))" }).joined(separator: " ")
    }

    /// Whether a service is asked in the place of a file.
    var asksService: Bool { database == nil && serviceOptions.address != nil }

    /// The service to ask; `nil` if the command works on a file, as it does with --database in any case.
    func service() throws -> ServiceConnection? {
        database == nil ? try serviceOptions.connection() : nil
    }

    /// The database file that is meant.
    ///
    /// - Throws: An error if a service is given and the command does not use one.
    func path() throws -> String {
        guard try server() == nil else {
            throw ValidationError(
                "This command does not work on a database server: run a service there, and use --service.")
        }
        if let database { return database }
        // Without asking it: a command that has read its input cannot start again.
        guard !asksService else {
            throw ValidationError(
                "This works only on a database file: name it with --database, or remove --service and CRUMB_SERVICE.")
        }
        return try Locations().database()
    }

    /// What errors call the database that is meant, on a server too.
    func name() throws -> String { try server() ?? path() }

    /// Refuses a database on a server, for a command that is about files.
    ///
    /// - Parameter advice: what to do instead, as a sentence.
    func requireFile(onServer advice: String) throws {
        guard try server() == nil else { throw ValidationError("This works only on a database file. \(advice)") }
    }

    /// The URL of a database on a server; `nil` if a file or a service is meant.
    private func server() throws -> String? {
        let name = try database ?? (asksService ? nil : Locations().database())
        return name.flatMap { DatabasePlace.isServer($0) ? $0 : nil }
    }

    /// Opens the database, on a server too.
    ///
    /// - Parameter creating: whether a file is created if it does not exist.
    func openAnywhere(creating: Bool, now: Timestamp) throws -> SessionDatabase? {
        if let served = try openServed(now: now) { return served }
        return try creating ? open(now: now) : openExisting(now: now)
    }

    /// Opens the database on a server; `nil` if a file or a service is meant.
    func openServed(now: Timestamp) throws -> SessionDatabase? {
        guard let url = try server() else { return nil }
        return try Network.required().servers.open(url, try KeyLocation().source(), now)
    }

    /// The files of the database, which are no destination; those of a service are not here.
    func ownFiles() throws -> [String] {
        guard try service() == nil, try server() == nil else { return [] }
        let database = try path()
        return [database, "\(database)-wal", "\(database)-shm", try KeyLocation().locations.keyFile()]
    }

    /// Opens the database, creating it if it does not exist.
    ///
    /// - Parameters:
    ///   - notesAccess: whether reading a cookie counts as using it, as it does for a request.
    ///   - durability: the failures that an acknowledged write survives.
    func open(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> SessionDatabase {
        try opener(now: now, notesAccess: notesAccess, durability: durability)()
    }

    /// Returns a function that opens the database, creating it if it does not exist, for commands that may not have to.
    func opener(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> () throws(SessionStoreError) -> SessionDatabase {
        let location = KeyLocation()
        let (path, keys) = (try path(), try location.source())
        return { () throws(SessionStoreError) in
            if !location.isInEnvironment, !SessionDatabase.exists(at: path),
                let other = KnownDatabases().sealedWithMissingKey
            {
                throw SessionStoreError(
                    .keyMissing, keys.name,
                    "the key file is missing, and \(other) may be sealed with its key; put it back, or name another file for "
                        + "the new database in CRUMB_KEY_FILE")
            }
            let sharing = KnownDatabases.othersWithDefaultKey(ifNew: path)
            let database = try SessionDatabase(
                path: DatabaseOptions.file(path), keys: keys, durability: durability,
                lastAccessGranularity: notesAccess ? 3600 : .max, now: now)
            KnownDatabases().remember(path)
            if let sharing { Console.current.note(sharing) }
            return database
        }
    }

    /// The path of the file with that name: in a command, a name that means memory to SQLite is one of a file, too.
    static func file(_ path: String) -> String {
        SessionDatabase.isNameOfMemory(path) ? "./\(path)" : path
    }

    /// Opens the database for a command that creates it only when there is something to store.
    ///
    /// - Returns: `nil` if the file does not exist or is empty.
    func openIfPresent(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> SessionDatabase? {
        let path = try path()
        guard SessionDatabase.exists(at: path), !isEmptyFile(path) else { return nil }
        return try open(now: now, notesAccess: notesAccess, durability: durability)
    }

    /// Whether a file without contents is there, which may be read.
    private func isEmptyFile(_ path: String) -> Bool {
        FileSystem.isRegular(path) && FileSystem.size(path) == 0 && FileSystem.readingFailure(path) == nil
    }

    /// Opens the database for a command that works only on what is stored. Never creates it, not even in an empty file.
    ///
    /// - Returns: `nil` if the default file does not exist or is empty: nothing was ever stored.
    /// - Throws: `CommandFailure` if the file that `--database` or the environment names does not exist or is empty.
    func openExisting(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> SessionDatabase? {
        if let opened = try openIfPresent(now: now, notesAccess: notesAccess, durability: durability) { return opened }
        guard database != nil || Locations().namedDatabase != nil else { return nil }
        let path = try path()
        throw CommandFailure.noDatabase(
            at: path, namedBy: database == nil ? "CRUMB_DATABASE" : "--database", isEmpty: isEmptyFile(path))
    }
}

/// The options that a browser's database itself does not determine.
struct BrowserDatabaseOptions: ParsableArguments {
    @Option(
        name: [.customLong("container"), .customLong("browser-container")],
        help: .value("name", "Read this container of Firefox, by name or number; 'none' is 0."))
    var container = "none"

    @Option(
        name: [.customLong("keyring-password-file"), .customLong("browser-password-file")],
        help: .file(
            "The file with the password that Chromium encrypts its cookies with; '-' is standard input. Default: "
                + "CRUMB_BROWSER_PASSWORD, else the desktop's keyring."))
    var passwordFile: String?

    /// Returns the options for reading a database.
    ///
    /// - Parameter keyring: the keyring to ask for the password if none is given.
    func options(keyring: DesktopKeyring? = nil) throws -> BrowserDatabase.Options {
        var options = BrowserDatabase.Options()
        if let password = try password() {
            options.password = { password }
        } else if let keyring {
            options.password = { keyring.password() }
        }
        return options
    }

    /// The number of the container in the profile that a file of Firefox's belongs to.
    func containerNumber(ofProfileIn folder: String) throws -> Int {
        let containers = FirefoxContainers(inFolder: folder)
        if let number = containers.number(of: container) { return number }
        let names = containers.all.map { "\($0.name) (\($0.number))" }.joined(separator: ", ")
        throw CommandFailure(
            .inputNotFound,
            "no container '\(container)' in \(folder)/containers.json"
                + (names.isEmpty ? "" : "; containers: \(names)"))
    }

    private func password() throws -> [UInt8]? {
        if let passwordFile {
            var bytes = try InputFile(passwordFile).contents(limit: 4096)
            while bytes.last.map(InputFile.isWhiteSpace) == true { bytes.removeLast() }
            return bytes
        }
        return SecretVariable.browserPassword.secret?.exposedBytes
    }
}

extension ArgumentHelp {
    /// The help of an option whose value is a file.
    static func file(_ abstract: String) -> ArgumentHelp { .value("file", abstract) }

    /// The help of an option whose value has a name of its own in the usage.
    static func value(_ name: String, _ abstract: String) -> ArgumentHelp { ArgumentHelp(abstract, valueName: name) }
}

/// The output options that all commands have.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, one object per line; also errors and notes, on standard error.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only data and errors.")
    var quiet = false

    @Flag(name: .long, help: "Print without color. NO_COLOR does the same.")
    var noColor = false

    /// Whether output may be colored.
    var usesColor: Bool { !noColor && (ProcessEnvironment.variables["NO_COLOR"] ?? "").isEmpty }
}
