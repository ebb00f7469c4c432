import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct BackupCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up the database to one file, even while it is in use.",
        discussion: """
            The backup is sealed under the same key: back up the key too, in another place. The file appears whole or not \
            at all, and only you can read it. 'crumb restore FILE' restores it; '--database FILE' uses it in place.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace an existing file.")
    var force = false

    @Argument(help: "The file to write.")
    var file: String

    func execute(_ console: Console) throws {
        guard let opened = try database.openExisting(now: .now) else {
            throw Problem(.databaseUnavailable, "\(try database.path()): there is no database to back up")
        }
        let key = try KeyLocation().name()
        let size = try opened.backUp(to: file, replacing: force)
        if output.json {
            try console.writeJSON(BackupReport(file: file, sizeInBytes: size, key: key))
        } else {
            try console.writeLine("\(file): \(size) bytes")
        }
        console.note("it is sealed: without the key from \(key) it cannot be opened; keep that too, elsewhere")
    }
}

private struct BackupReport: Encodable {
    let file: String
    let sizeInBytes: Int64
    let key: String
}
