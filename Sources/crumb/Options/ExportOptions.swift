import ArgumentParser
import SessionStore

/// Where an export goes.
struct ExportOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write, readable only by you; '-' is standard output. Default: standard output, unless it is a terminal.",
            valueName: "file"))
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    /// Opens the destination.
    ///
    /// - Parameter own: files that are no destination.
    func destination(sparing own: [String], _ console: Console) throws -> ExportDestination {
        try ExportDestination(output, replaces: force, sparing: own, console: console)
    }
}
