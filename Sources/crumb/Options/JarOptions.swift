import ArgumentParser
import CookieModel
import SessionStore

/// Which database and which jar a command works on, and by which public suffix list.
struct JarOptions: ParsableArguments {
    @OptionGroup var databaseOptions: DatabaseOptions
    @OptionGroup var suffixListOptions: SuffixListOptions

    @Option(
        name: [.customShort("j"), .customLong("jar")],
        help: ArgumentHelp("The jar to use. Default: CRUMB_JAR, else 'default'.", valueName: "name"))
    var givenJar: String?

    /// The name of the jar.
    var jar: String { givenJar ?? Locations().jar ?? "default" }

    /// The database file that is meant.
    func path() throws -> String {
        try databaseOptions.path()
    }

    /// The jar, in the file or of the service.
    ///
    /// - Parameter browserOptions: what an import asks for of a browser's database.
    func kept(now: Timestamp, browserOptions: BrowserDatabaseOptions? = nil) throws -> any KeptJar {
        guard let service = try databaseOptions.service() else {
            return StoredJar(self, browserOptions: browserOptions, now: now)
        }
        guard suffixListOptions.publicSuffixList == nil else {
            throw ValidationError("A service goes by its own public suffix list: --public-suffix-list has no effect.")
        }
        return try ServedJar(named: jar, of: service)
    }

    /// The rules that apply. Reads the public suffix list where one was given, so it is called once a command.
    func policy() throws -> CookiePolicy {
        var policy = CookiePolicy()
        policy.publicSuffixes = try suffixListOptions.list()
        return policy
    }

    /// Opens the database where there is one; makes nothing.
    ///
    /// - Parameter notesAccess: whether reading a cookie counts as using it.
    func openExistingDatabase(now: Timestamp, notesAccess: Bool = true) throws -> SessionDatabase? {
        if let database = try databaseOptions.openExisting(now: now, notesAccess: notesAccess) { return database }
        if jar != "default" { throw noSuchJar(try path()) }
        return nil
    }

    /// The jar to write to, made where it is missing.
    func openJar(now: Timestamp) throws -> CookieJar {
        let policy = try policy()
        return try databaseOptions.open(now: now).jar(named: jar, policy: policy, now: now)
    }

    /// The jar to read from; `nil` where nothing was ever stored in the default one.
    ///
    /// - Parameter notesAccess: whether reading a cookie counts as using it.
    func openExistingJar(now: Timestamp, notesAccess: Bool = true) throws -> CookieJar? {
        let policy = try policy()
        guard let database = try openExistingDatabase(now: now, notesAccess: notesAccess) else { return nil }
        return try existingJar(in: database, policy: policy)
    }

    /// The jar to read from in a database that is open; `nil` where nothing was ever stored in the default one.
    func existingJar(in database: SessionDatabase, policy: CookiePolicy) throws -> CookieJar? {
        if let found = try database.existingJar(named: jar, policy: policy) { return found }
        if jar == "default" { return nil }
        throw noSuchJar(database.path)
    }

    private func noSuchJar(_ path: String) -> Problem {
        .noJar(named: jar, in: path)
    }
}
