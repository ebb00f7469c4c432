import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct RestoreCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of the database.",
        discussion: """
            Reads a file that 'crumb backup' made. It has to be sealed under the current key. Crumb copies the backup, \
            checks its structure and every sealed value, and then replaces the database in one step, with its \
            write-ahead log. The backup stays as it is.

            Stop 'crumb serve' and every other process that uses the database first: exit status 25 if one still has it \
            open. A database that is there is replaced only with --force; back it up first to keep it.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace the database that is there.")
    var force = false

    @Argument(help: "The backup.", completion: .file())
    var file: String

    func execute(_ console: Console) throws {
        let path = try database.path()
        guard !PrivateFile.isAbsent(file) else {
            throw Problem(.inputNotFound, "\(file): no such file; name a backup that 'crumb backup' made")
        }
        let restored = try SessionDatabase.restore(
            file, to: path, keys: try KeyLocation().source(), replacing: force, now: .now)
        if output.json {
            try console.writeJSON(RestorationReport(database: path, file: file, restored))
        } else {
            let jars = counted(restored.jars, "jar")
            let values = counted(restored.sealedValues, "sealed value")
            try console.writeLine(
                "\(path): \(restored.replaced ? "replaced with" : "restored from") \(file): \(jars), \(values)")
        }
    }
}

private struct RestorationReport: Encodable {
    let database: String
    let file: String
    let jars: Int
    let sealedValues: Int
    let sizeInBytes: Int64
    let replaced: Bool

    init(database: String, file: String, _ restoration: DatabaseRestoration) {
        self.database = database
        self.file = file
        jars = restoration.jars
        sealedValues = restoration.sealedValues
        sizeInBytes = restoration.sizeInBytes
        replaced = restoration.replaced
    }
}
