import ArgumentParser
import CookieModel
import SessionStore

/// Which database a command works on, or which service it asks instead.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The database file. Default: CRUMB_DATABASE, else crumb/crumb.sqlite in your data folder.")
    var database: String?

    @OptionGroup var serviceOptions: ServiceOptions

    func validate() throws {
        if database != nil, serviceOptions.service != nil {
            throw ValidationError("--database and --service exclude each other.")
        }
    }

    /// The service to ask; `nil` where the command works on a file, as it does with --database in any case.
    func service() throws -> ServiceConnection? {
        database == nil ? try serviceOptions.connection() : nil
    }

    /// The database file that is meant.
    ///
    /// - Throws: that the command asks no service, where one is given.
    func path() throws -> String {
        if let database { return database }
        guard try service() == nil else {
            throw ValidationError(
                "This works on a database file alone: name it with --database, or give no --service and CRUMB_SERVICE.")
        }
        return try Locations().database()
    }

    /// The jars, in the file or of the service.
    func keptJars(now: Timestamp) throws -> any KeptJars {
        if let service = try service() { return ServedJars(service) }
        return StoredJars(self, now: now)
    }

    /// The tokens, in the file or of the service.
    ///
    /// - Parameter refresh: how a refresh from here waits; a service goes by a setting of its own.
    func keptTokens(now: Timestamp, refresh: RefreshOptions? = nil) throws -> any KeptTokens {
        if let service = try service() {
            guard refresh?.refreshTimeout == nil else {
                throw ValidationError("--refresh-timeout: the service goes by its own setting, refresh.timeoutSeconds.")
            }
            return ServedTokens(service)
        }
        return StoredTokens(self, refreshTimeout: refresh?.refreshTimeout, now: now)
    }

    /// Opens the database, making it where it is missing.
    ///
    /// - Parameters:
    ///   - notesAccess: whether reading a cookie counts as using it, as it does for a request.
    ///   - durability: what an acknowledged write survives.
    func open(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> SessionDatabase {
        try opener(now: now, notesAccess: notesAccess, durability: durability)()
    }

    /// What opens the database, creating it if it does not exist, for commands that may not have to.
    func opener(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> () throws(SessionStoreError) -> SessionDatabase {
        let (path, keys) = (try path(), try KeyLocation().source())
        return { () throws(SessionStoreError) in
            try SessionDatabase(
                path: path, keys: keys, durability: durability, lastAccessGranularity: notesAccess ? 3600 : .max,
                now: now)
        }
    }

    /// Opens the database where there is one; makes nothing.
    func openExisting(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> SessionDatabase? {
        guard SessionDatabase.exists(at: try path()) else { return nil }
        return try open(now: now, notesAccess: notesAccess, durability: durability)
    }

    /// Opens the database for a jar that must be there; makes nothing.
    func openForJar(named name: String, now: Timestamp) throws -> SessionDatabase {
        guard let database = try openExisting(now: now) else {
            throw Problem.noDatabase(at: try path())
        }
        return database
    }
}
