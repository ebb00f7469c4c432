import ArgumentParser
import CookieModel
import SessionStore

struct BackupCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the database into one file, while others go on using it.",
        discussion: """
            The copy is sealed under the same key: keep the key too, and not beside it. It appears whole or not at \
            all, readable by you alone, and is a database like any other: '--database FILE' uses it.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace a file that is there already.")
    var force = false

    @Argument(help: "The file to make.")
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
