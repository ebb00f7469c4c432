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
        report.rotationUnfinished = try database.openExisting(now: .now)?.isRotationPending()
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}

private struct KeyStatusReport: Encodable {
    let source: String
    let isFile: Bool
    let database: String
    var keys: Int?
    var locked: Bool?
    var rotationUnfinished: Bool?

    var text: String {
        var file = "not made yet"
        if let keys, let locked {
            file = "\(keys == 1 ? "one key" : "\(keys) keys"), \(locked ? "locked with a passphrase" : "in the clear")"
        }
        let rotation = rotationUnfinished.map { $0 ? "unfinished: run 'crumb key rotate'" : "none under way" }
        return Console.table([
            [isFile ? "key file" : "environment", isFile ? "\(source) (\(file))" : source],
            ["database", database + (rotation == nil ? " (not made yet)" : "")],
            ["rotation", rotation ?? "none under way"],
        ])
    }
}
