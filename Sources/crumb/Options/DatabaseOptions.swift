import ArgumentParser
import CookieModel
import SessionStore

/// Which database a command works on.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The SQLite database. Default: CRUMB_DATABASE, else crumb/crumb.sqlite in the user's data folder.")
    var database: String?

    /// The database file that is meant.
    func path() throws -> String {
        try database ?? Locations().database()
    }

    /// Opens the database, making it where it is missing.
    ///
    /// - Parameters:
    ///   - notesAccess: whether reading a cookie counts as using it, as it does for a request.
    ///   - durability: what an acknowledged write survives.
    func open(
        now: Timestamp, notesAccess: Bool = true, durability: Durability = .normal
    ) throws -> SessionDatabase {
        try SessionDatabase(
            path: try path(), keys: try KeyLocation().source(), durability: durability,
            lastAccessGranularity: notesAccess ? 3600 : .max, now: now)
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
            throw Problem(
                .jarNotFound, "\(name): there is no jar of this name, and no database yet; 'crumb import' makes both")
        }
        return database
    }
}
