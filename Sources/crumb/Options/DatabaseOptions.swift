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
    func open(now: Timestamp) throws -> SessionDatabase {
        try SessionDatabase(path: try path(), keys: try KeyLocation().source(), now: now)
    }

    /// Opens the database where there is one; makes nothing.
    func openExisting(now: Timestamp) throws -> SessionDatabase? {
        SessionDatabase.exists(at: try path()) ? try open(now: now) : nil
    }
}
