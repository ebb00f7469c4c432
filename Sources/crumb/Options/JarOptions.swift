import ArgumentParser
import CookieModel
import SessionStore

/// Which database and which jar a command works on.
struct JarOptions: ParsableArguments {
    @OptionGroup var databaseOptions: DatabaseOptions

    @Option(help: "The jar within the database.")
    var jar = "default"

    /// The database file that is meant.
    func path() throws -> String {
        try databaseOptions.path()
    }

    /// Opens the database where there is one; makes nothing.
    func openExistingDatabase(now: Timestamp) throws -> SessionDatabase? {
        if let database = try databaseOptions.openExisting(now: now) { return database }
        if jar != "default" { throw noSuchJar(try path()) }
        return nil
    }

    /// The jar to write to, made where it is missing.
    func openJar(now: Timestamp) throws -> CookieJar {
        try databaseOptions.open(now: now).jar(named: jar, now: now)
    }

    /// The jar to read from; `nil` where nothing was ever stored in the default one.
    func openExistingJar(now: Timestamp) throws -> CookieJar? {
        guard let database = try openExistingDatabase(now: now) else { return nil }
        if let found = try database.existingJar(named: jar) { return found }
        if jar == "default" { return nil }
        throw noSuchJar(database.path)
    }

    private func noSuchJar(_ path: String) -> Problem {
        Problem(.jarNotFound, "\(jar): there is no jar of this name in \(path); 'crumb jars' lists those there are")
    }
}
