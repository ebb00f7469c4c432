import ArgumentParser
import CookieModel
import SessionOperations
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
    /// - Parameters:
    ///   - browserOptions: what an import asks for of a browser's database.
    ///   - console: where a jar that the command creates is named.
    func kept(
        now: Timestamp, browserOptions: BrowserDatabaseOptions? = nil, console: Console? = nil
    ) throws -> any KeptJar {
        guard let service = try databaseOptions.service() else {
            return StoredJar(self, browserOptions: browserOptions, now: now, console: console)
        }
        guard suffixListOptions.publicSuffixList == nil else {
            throw ValidationError("A service goes by its own public suffix list: --public-suffix-list has no effect.")
        }
        return try ServedJar(named: jar, of: service, console: console)
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
        if jar != "default" { throw Problem.noDatabase(at: try path()) }
        return nil
    }

    /// The jar to write to, created if it does not exist: it holds something other than cookies afterwards.
    func openJar(now: Timestamp, _ console: Console?) throws -> CookieJar {
        try target(now: now, console).writable()
    }

    /// The jar for cookies, created with the first one that is stored. A jar that is created is named, so that a
    /// misspelled one does not go unnoticed.
    ///
    /// - Parameter isDryRun: whether nothing is stored.
    func target(now: Timestamp, isDryRun: Bool = false, _ console: Console?) throws -> ImportTarget {
        try SessionStoreError.check(jar, of: "jar")
        let (name, policy) = (jar, try policy())
        let database = try databaseOptions.openExisting(now: now)
        let existing = try database?.existingJar(named: name, policy: policy)
        guard !isDryRun else {
            return ImportTarget(named: name, existing: existing, policy: policy, creation: nil)
        }
        let open = try databaseOptions.opener(now: now)
        return ImportTarget(named: name, existing: existing, policy: policy) { () throws(SessionStoreError) in
            let database = if let database { database } else { try open() }
            let jar = try database.jar(named: name, policy: policy, now: now)
            if name != "default" { console?.note("created jar '\(name)'") }
            return jar
        }
    }

    /// The jar to read from; `nil` where nothing was ever stored in the default one.
    ///
    /// - Parameter notesAccess: whether reading a cookie counts as using it.
    func openExistingJar(now: Timestamp, notesAccess: Bool = true) throws -> CookieJar? {
        let policy = try policy()
        guard let database = try openExistingDatabase(now: now, notesAccess: notesAccess) else { return nil }
        return try existingJar(in: database, policy: policy)
    }

    /// The jar whose session is saved; the default one is created if nothing was ever stored in it.
    func openExistingOrDefaultJar(now: Timestamp, _ console: Console?) throws -> CookieJar {
        try openExistingJar(now: now) ?? openJar(now: now, console)
    }

    /// The jar to read from in a database that is open; `nil` where nothing was ever stored in the default one.
    func existingJar(in database: SessionDatabase, policy: CookiePolicy) throws -> CookieJar? {
        if let found = try database.existingJar(named: jar, policy: policy) { return found }
        if jar == "default" { return nil }
        throw Problem.noJar(named: jar, in: database, now: .now)
    }
}
