import ArgumentParser
import CookieModel
import SessionStore

struct KeyStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show where the key comes from, whether it is locked, and whether a rotation is unfinished.",
        aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let location = KeyLocation()
        var report = KeyStatusReport(
            source: try location.name(), isFile: !location.isInEnvironment, database: try database.path())
        if !location.isInEnvironment, let state = try location.file().state() {
            report.keys = state.keyCount
            report.locked = state.isLocked
        }
        do {
            report.rotationUnfinished = try database.openExisting(now: .now)?.isRotationPending()
        } catch let error as SessionStoreError where error.code == .keyLocked {
            // All else is known without the passphrase.
            report.hasDatabase = true
        }
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}

private struct KeyStatusReport: Encodable {
    let source: String
    let isFile: Bool
    let database: String
    var keys: Int?
    var locked: Bool?
    /// `nil` where there is no database, or the key is locked.
    var rotationUnfinished: Bool?
    /// Whether there is a database that the locked key keeps closed.
    var hasDatabase = false

    enum CodingKeys: CodingKey {
        case source, isFile, database, keys, locked, rotationUnfinished
    }

    var text: String {
        var file = "not made yet"
        if let keys, let locked {
            file = "\(keys == 1 ? "one key" : "\(keys) keys"), \(locked ? "locked with a passphrase" : "in the clear")"
        }
        var rotation = rotationUnfinished.map { $0 ? "unfinished: run 'crumb key rotate'" : "none under way" }
        if hasDatabase { rotation = "not known while the key is locked: name the passphrase in CRUMB_PASSPHRASE_FILE" }
        return Console.table([
            [isFile ? "key file" : "environment", isFile ? "\(source) (\(file))" : source],
            ["database", database + (rotation == nil ? " (not made yet)" : "")],
            ["rotation", rotation ?? "none under way"],
        ])
    }
}
